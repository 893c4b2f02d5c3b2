import { jsonBody } from './body.js';
import type { CallOptions } from './config.js';
import { Download } from './download.js';
import { formBody, type UploadFile } from './file-body.js';
import { Resource } from './resource.js';
import type { ChangedPath, FileList, MovedPath, UploadedFile, WrittenFile } from './types.js';
import { base64, pathMember, route, textOf, type FilePath } from './values.js';

/** Milliseconds: uploads are as slow as the connection. */
export const UPLOAD_MS = 3_600_000;

/** Where a file is uploaded to. */
export interface UploadOptions {
  /** A folder of the volume. Without it the agent gets the file as an attachment in its current conversation. */
  readonly destDir?: FilePath | undefined;
  /** Goes with an attachment. */
  readonly message?: string | undefined;
  /** The name of the file, by default its own. */
  readonly name?: string | undefined;
}

/**
 * `berth.files`. All methods wake a sleeping agent. Paths are relative to the volume of the agent, or absolute in it; one
 * given as bytes names a file whose name is no UTF-8.
 */
export class Files extends Resource {
  /** Lists a folder, by default the whole volume. Sizes are bytes, `mtime` are Unix seconds. */
  async list(id: string, path?: FilePath, options?: CallOptions): Promise<FileList> {
    const query = path === undefined ? {} : pathMember(path);
    return this.read(route`/api/agents/${id}/files/list`, options, query);
  }

  /**
   * Downloads a file of up to 100 MB, also from outside the volume. Returns once the headers are there; the time-out
   * bounds the wait for them, and then each silence.
   */
  async download(id: string, path: FilePath, options?: CallOptions): Promise<Download> {
    const query = pathMember(path);
    const call = { method: 'GET', path: route`/api/agents/${id}/files/download`, query, headers: ANY };
    return new Download(await this.transport.open(call, options));
  }

  /**
   * Uploads a file of up to 100 MB, which is read as it is sent. May take an hour by default, and is never repeated. The
   * name is `name`, else the one of a `File`, a path or `fileFromPath`, else a TypeError.
   */
  async upload(
    id: string,
    file: UploadFile,
    { destDir, message, name }: UploadOptions = {},
    options?: CallOptions,
  ): Promise<UploadedFile> {
    const folder: Record<string, string> =
      destDir instanceof Uint8Array
        ? { dest_dir_base64: base64(destDir) }
        : destDir === undefined
          ? {}
          : { dest_dir: textOf(destDir, 'destDir') };
    const fields = message === undefined ? folder : { ...folder, message: textOf(message, 'message') };
    return this.transport.object(
      {
        method: 'POST',
        path: route`/api/agents/${id}/files/upload`,
        body: formBody(file, name, fields),
        repeat: 'never',
        leastTimeout: UPLOAD_MS,
      },
      options,
    );
  }

  /** Writes text to a file, all of it or nothing. Folders above it are made. May take an hour by default. */
  async write(id: string, path: FilePath, content: string, options?: CallOptions): Promise<WrittenFile> {
    const body = jsonBody({ ...pathMember(path), content: textOf(content, 'content') });
    return this.transport.object(
      { method: 'PUT', path: route`/api/agents/${id}/files/write`, body, leastTimeout: UPLOAD_MS },
      options,
    );
  }

  /** Makes a folder, and those above it. */
  async mkdir(id: string, path: FilePath, options?: CallOptions): Promise<ChangedPath> {
    const body = jsonBody(pathMember(path));
    return this.transport.object(
      { method: 'POST', path: route`/api/agents/${id}/files/mkdir`, body },
      options,
    );
  }

  /** Moves a file or folder. Rejects with `ServiceConflictError` if there is something at `to`. */
  async move(id: string, from: FilePath, to: FilePath, options?: CallOptions): Promise<MovedPath> {
    const body = jsonBody({ ...pathMember(from, 'from'), ...pathMember(to, 'to') });
    return this.transport.object(
      { method: 'POST', path: route`/api/agents/${id}/files/move`, body },
      options,
    );
  }

  /** Deletes a file, or a folder with all that it contains. */
  async delete(id: string, path: FilePath, options?: CallOptions): Promise<ChangedPath> {
    const query = pathMember(path);
    const call = { method: 'DELETE', path: route`/api/agents/${id}/files/delete`, query };
    return this.transport.object(call, options, { ok: true, path: query['path'] ?? '' } as ChangedPath);
  }
}

/** A file is sent as it is, so that its length is known. */
export const ANY = { accept: '*/*', 'accept-encoding': 'identity' };

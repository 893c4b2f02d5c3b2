import { connect } from 'node:net';
import type { ApiResponse } from './api.fixture.js';
import type { Stack } from './stack.fixture.js';

export interface Listing extends Record<string, unknown> {
  readonly path: string;
  readonly root: string;
  readonly entries: readonly {
    readonly name: string;
    readonly isDir: boolean;
    readonly size: number;
    readonly mtime: number;
  }[];
}

export interface Upload {
  readonly name: string;
  readonly dest_dir?: string;
  readonly message?: string;
  /** Where the fields are, relative to the file. */
  readonly order?: 'before' | 'after';
  readonly headers?: Record<string, string>;
}

export interface Downloaded {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  /** The body of an error response in JSON; otherwise undefined. */
  readonly json: unknown;
}

/** Files of one agent, over HTTP. */
export class Files {
  constructor(
    private readonly stack: () => Stack,
    readonly agentId: string,
  ) {}

  list(path?: string): Promise<ApiResponse<Listing>> {
    return this.raw('GET', path === undefined ? 'list' : `list?path=${encodeURIComponent(path)}`) as Promise<
      ApiResponse<Listing>
    >;
  }

  write(path: string, content: string): Promise<ApiResponse> {
    return this.json('PUT', 'write', { path, content });
  }

  mkdir(path: string): Promise<ApiResponse> {
    return this.json('POST', 'mkdir', { path });
  }

  move(from: string, to: string): Promise<ApiResponse> {
    return this.json('POST', 'move', { from, to });
  }

  delete(path: string): Promise<ApiResponse> {
    return this.raw('DELETE', `delete?path=${encodeURIComponent(path)}`);
  }

  upload(bytes: Uint8Array<ArrayBuffer>, upload: Upload): Promise<ApiResponse> {
    const form = new FormData();
    const addFile = (): void => form.set('file', new Blob([bytes]), upload.name);
    if (upload.order === 'after') addFile();
    if (upload.dest_dir !== undefined) form.set('dest_dir', upload.dest_dir);
    if (upload.message !== undefined) form.set('message', upload.message);
    if (upload.order !== 'after') addFile();
    return this.form(form, upload.headers);
  }

  form(form: FormData, headers: Record<string, string> = {}): Promise<ApiResponse> {
    return this.raw('POST', 'upload', form, headers);
  }

  async download(path: string, headers: Record<string, string> = {}): Promise<Downloaded> {
    const response = await fetch(this.url(`download?path=${encodeURIComponent(path)}`), {
      headers: { ...this.credentials, ...headers },
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const isJson = !response.ok && response.headers.get('content-type')?.includes('json') === true;
    return {
      status: response.status,
      headers: response.headers,
      bytes,
      json: isJson ? JSON.parse(bytes.toString('utf8')) : undefined,
    };
  }

  /** Sends half of an upload and closes the connection. */
  abortedUpload(folder: string, name: string): Promise<void> {
    const head =
      `--b\r\nContent-Disposition: form-data; name="dest_dir"\r\n\r\n${folder}\r\n` +
      `--b\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n`;
    const { hostname, port, pathname } = new URL(this.url('upload'));
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(
          `POST ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: ${this.credentials.authorization}\r\n` +
            `Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 2000000\r\n\r\n${head}`,
        );
        socket.write(Buffer.alloc(1_000_000, 'x'), () => socket.destroy());
      });
      socket.once('error', reject);
      socket.once('close', () => resolve());
    });
  }

  /** Reads the beginning of a download and aborts it. */
  async abortedDownload(path: string): Promise<void> {
    const controller = new AbortController();
    const response = await fetch(this.url(`download?path=${encodeURIComponent(path)}`), {
      headers: this.credentials,
      signal: controller.signal,
    });
    await response.body?.getReader().read();
    controller.abort();
  }

  async raw(
    method: string,
    route: string,
    body?: string | FormData,
    headers: Record<string, string> = {},
  ): Promise<ApiResponse> {
    const response = await fetch(this.url(route), {
      method,
      headers: { ...this.credentials, ...headers },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return {
      status: response.status,
      headers: response.headers,
      body: (isJson ? JSON.parse(text) : { text }) as Record<string, unknown>,
    };
  }

  private json(method: string, route: string, body: unknown): Promise<ApiResponse> {
    return this.raw(method, route, JSON.stringify(body), { 'content-type': 'application/json' });
  }

  private get credentials(): { readonly authorization: string } {
    return { authorization: `Bearer ${this.stack().key}` };
  }

  private url(route: string): string {
    return `${this.stack().urls[0] ?? ''}/api/agents/${this.agentId}/files/${route}`;
  }
}

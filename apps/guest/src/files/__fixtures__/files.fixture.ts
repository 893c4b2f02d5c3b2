import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, linkSync, mkdirSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { request, type ClientRequest, type IncomingHttpHeaders } from 'node:http';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import {
  GUEST_ROUTES,
  type FileChange,
  type FileCommand,
  type FileEntry,
  type GuestRoute,
  type PutProgram,
} from '@berth/guest-protocol';
import { GuestFixture } from '../../__fixtures__/guest.fixture.js';

/** The agent's user if the tests run as root; otherwise null: the user that runs the tests. */
export const AGENT = process.getuid?.() === 0 ? { uid: 61_234, gid: 61_234 } : null;
/** Whether tests can mount: root, outside of a container that forbids it. */
export const CAN_MOUNT =
  AGENT !== null && spawnSync('unshare', ['--mount', 'true'], { stdio: 'ignore' }).status === 0;
export const LIMIT = 1_000_000;

/** A response of the guest. */
export interface FileResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The connection closed before the response was complete. */
  readonly broken: boolean;
}

export interface FileRequest {
  readonly query?: { readonly [name: string]: string | number };
  readonly method?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: Buffer | string | Readable;
  /** Called with every chunk of the response. */
  readonly onData?: (piece: Buffer) => void;
  /** Called when the response has begun; the body is then left unread. */
  readonly pause?: () => void;
  readonly signal?: AbortSignal;
}

/** A guest with an agent's volume, and a folder outside of it that the agent can access. */
export class FilesFixture {
  #ids = 0;
  readonly #calls = new Set<ClientRequest>();

  private constructor(readonly guest: GuestFixture) {}

  static async open(changes: Partial<PutProgram> = {}): Promise<FilesFixture> {
    const fixture = new FilesFixture(await GuestFixture.open());
    chmodSync(fixture.guest.dir, 0o755);
    mkdirSync(fixture.outside);
    fixture.give(fixture.volume);
    await fixture.put(changes);
    return fixture;
  }

  get volume(): string {
    return join(this.guest.dir, 'volume');
  }

  get staging(): string {
    return join(this.guest.dir, 'staging');
  }

  get outside(): string {
    return join(this.guest.dir, 'outside');
  }

  put(changes: Partial<PutProgram> = {}): Promise<unknown> {
    return this.guest.put({ command: null, runAs: AGENT, ...changes });
  }

  destroy(): Promise<void> {
    return this.guest.destroy();
  }

  /** Restarts the guest on the same folders. */
  async restart(): Promise<void> {
    await this.guest.restart();
    await this.put();
  }

  /** Creates a file of the agent in its volume, with its parent folders. */
  file(path: string, content: string | Buffer = path, mode = 0o644): string {
    const whole = join(this.volume, path);
    this.folder(dirname(path));
    writeFileSync(whole, content);
    chmodSync(whole, mode);
    this.give(whole);
    return whole;
  }

  folder(path: string): string {
    const whole = join(this.volume, path);
    if (mkdirSync(whole, { recursive: true }) !== undefined) this.give(whole);
    return whole;
  }

  give(path: string): void {
    if (AGENT !== null) chownSync(path, AGENT.uid, AGENT.gid);
  }

  /** Number of open descriptors to the guest's folders or to the root directory. */
  held(): number {
    return readdirSync('/proc/self/fd').filter((fd) => {
      const path = linkOf(fd);
      return (
        path === '/' || [this.volume, this.staging, this.outside].some((folder) => path.startsWith(folder))
      );
    }).length;
  }

  ask(route: GuestRoute, options: FileRequest = {}): Promise<FileResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<FileResponse>();
    const query = new URLSearchParams(
      Object.entries(options.query ?? {}).map(([name, value]) => [name, String(value)]),
    );
    const call = request({
      socketPath: join(this.guest.dir, 'sock'),
      method: options.method ?? route.method,
      path: `${route.path}?${query.toString()}`,
      headers: options.headers ?? {},
      agent: false,
      signal: options.signal,
    });
    this.#calls.add(call);
    call.on('close', () => this.#calls.delete(call));
    call.on('error', reject);
    call.on('response', (response) => {
      const pieces: Buffer[] = [];
      const end = (broken: boolean) => (): void =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(pieces),
          broken,
        });
      response.on('end', end(false));
      response.on('error', end(true));
      if (options.pause !== undefined) return options.pause();
      response.on('data', (piece: Buffer) => {
        pieces.push(piece);
        options.onData?.(piece);
      });
    });
    const { body } = options;
    if (body === undefined || typeof body === 'string' || Buffer.isBuffer(body)) call.end(body);
    else body.pipe(call);
    return promise;
  }

  /** Aborts all open requests. */
  hangUp(): void {
    for (const call of this.#calls) call.destroy();
  }

  list(path?: string): Promise<FileResponse> {
    return this.ask(GUEST_ROUTES.listFiles, { query: path === undefined ? {} : { path } });
  }

  read(path: string, options: FileRequest = {}): Promise<FileResponse> {
    return this.ask(GUEST_ROUTES.readFile, {
      ...options,
      query: { path, within: 'agent', limit: LIMIT, ...options.query },
    });
  }

  stage(id: string, body: FileRequest['body'], limit = LIMIT): Promise<FileResponse> {
    return this.ask(GUEST_ROUTES.stageFile, {
      query: { id, limit },
      ...(body === undefined ? {} : { body }),
    });
  }

  change(command: FileCommand): Promise<FileResponse> {
    return this.ask(GUEST_ROUTES.changeFile, { body: JSON.stringify(command) });
  }

  /** Stages `content` and puts it at the target. */
  async write(
    target: Extract<FileCommand, { readonly op: 'commit' }>['target'],
    content: string | Buffer = 'new',
  ): Promise<FileResponse> {
    const stagedId = `stg_${this.#ids++}`;
    const staged = await this.stage(stagedId, content);
    if (staged.status !== 200) return staged;
    const response = await this.change({ op: 'commit', stagedId, target });
    if (response.status !== 200) await this.change({ op: 'discard', stagedId });
    return response;
  }
}

export const jsonOf = (response: FileResponse): unknown => JSON.parse(response.body.toString());
export const changeOf = (response: FileResponse): FileChange => jsonOf(response) as FileChange;
export const entriesOf = (response: FileResponse): readonly FileEntry[] =>
  (jsonOf(response) as { readonly entries: readonly FileEntry[] }).entries;

/** For example `invalid path_outside_volume`; the status if the response is not an error. */
export const refusalOf = (response: FileResponse): string => {
  if (response.status !== 422) return String(response.status);
  const { error } = jsonOf(response) as { readonly error: { readonly kind: string; readonly code: string } };
  return `${error.kind} ${error.code}`;
};

/** Fills a folder with many names quickly: hard links need little disk space. */
export const manyNames = (folder: string, count: number): void => {
  for (let index = 0; index < count; index++) {
    // Some file systems allow at most 65,000 links per file.
    const first = join(folder, `${index - (index % 50_000)}`);
    if (index % 50_000 === 0) writeFileSync(first, '');
    else linkSync(first, join(folder, `${index}`));
  }
};

const linkOf = (fd: string): string => {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return '';
  }
};

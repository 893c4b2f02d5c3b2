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

/** The agent's user where a test runs as root; elsewhere the agent is whoever runs it. */
export const AGENT = process.getuid?.() === 0 ? { uid: 61_234, gid: 61_234 } : null;
/** Root outside of a container that forbids it. */
export const CAN_MOUNT =
  AGENT !== null && spawnSync('unshare', ['--mount', 'true'], { stdio: 'ignore' }).status === 0;
export const LIMIT = 1_000_000;

/** What a guest answered. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The connection went before the answer was whole. */
  readonly broken: boolean;
}

export interface Question {
  readonly query?: { readonly [name: string]: string | number };
  readonly method?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: Buffer | string | Readable;
  /** Called with every piece of the answer. */
  readonly onData?: (piece: Buffer) => void;
  /** Called when the answer has begun, of which nothing is read then. */
  readonly pause?: () => void;
  readonly signal?: AbortSignal;
}

/** A guest that has an agent's volume, and a folder outside of it that the agent can reach. */
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

  /** Another life of the guest on the same folders. */
  async restart(): Promise<void> {
    await this.guest.restart();
    await this.put();
  }

  /** A file of the agent's in its volume, and the folders it lies in. */
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

  /** How many descriptors are held of anything in the guest's folders, or of the root of all. */
  held(): number {
    return readdirSync('/proc/self/fd').filter((fd) => {
      const path = linkOf(fd);
      return (
        path === '/' || [this.volume, this.staging, this.outside].some((folder) => path.startsWith(folder))
      );
    }).length;
  }

  ask(route: GuestRoute, question: Question = {}): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const query = new URLSearchParams(
      Object.entries(question.query ?? {}).map(([name, value]) => [name, String(value)]),
    );
    const call = request({
      socketPath: join(this.guest.dir, 'sock'),
      method: question.method ?? route.method,
      path: `${route.path}?${query.toString()}`,
      headers: question.headers ?? {},
      agent: false,
      signal: question.signal,
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
      if (question.pause !== undefined) return question.pause();
      response.on('data', (piece: Buffer) => {
        pieces.push(piece);
        question.onData?.(piece);
      });
    });
    const { body } = question;
    if (body === undefined || typeof body === 'string' || Buffer.isBuffer(body)) call.end(body);
    else body.pipe(call);
    return promise;
  }

  /** Tears down whatever is on its way. */
  hangUp(): void {
    for (const call of this.#calls) call.destroy();
  }

  list(path?: string): Promise<Answer> {
    return this.ask(GUEST_ROUTES.listFiles, { query: path === undefined ? {} : { path } });
  }

  read(path: string, question: Question = {}): Promise<Answer> {
    return this.ask(GUEST_ROUTES.readFile, {
      ...question,
      query: { path, within: 'agent', limit: LIMIT, ...question.query },
    });
  }

  stage(id: string, body: Question['body'], limit = LIMIT): Promise<Answer> {
    return this.ask(GUEST_ROUTES.stageFile, {
      query: { id, limit },
      ...(body === undefined ? {} : { body }),
    });
  }

  change(command: FileCommand): Promise<Answer> {
    return this.ask(GUEST_ROUTES.changeFile, { body: JSON.stringify(command) });
  }

  /** Stages `content` and puts it where it is said. */
  async write(
    target: Extract<FileCommand, { readonly op: 'commit' }>['target'],
    content: string | Buffer = 'new',
  ): Promise<Answer> {
    const stagedId = `stg_${this.#ids++}`;
    const staged = await this.stage(stagedId, content);
    if (staged.status !== 200) return staged;
    const answer = await this.change({ op: 'commit', stagedId, target });
    if (answer.status !== 200) await this.change({ op: 'discard', stagedId });
    return answer;
  }
}

export const jsonOf = (answer: Answer): unknown => JSON.parse(answer.body.toString());
export const changeOf = (answer: Answer): FileChange => jsonOf(answer) as FileChange;
export const entriesOf = (answer: Answer): readonly FileEntry[] =>
  (jsonOf(answer) as { readonly entries: readonly FileEntry[] }).entries;

/** `invalid path_outside_volume`; an answer that is no refusal as its status. */
export const refusalOf = (answer: Answer): string => {
  if (answer.status !== 422) return String(answer.status);
  const { error } = jsonOf(answer) as { readonly error: { readonly kind: string; readonly code: string } };
  return `${error.kind} ${error.code}`;
};

/** Fills a folder with names fast: links cost the disk little. */
export const manyNames = (folder: string, count: number): void => {
  for (let index = 0; index < count; index++) {
    // A file has at most 65,000 names on some disks.
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

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The content of a file, or a symbolic link. */
export type RepositoryEntry = string | { readonly linkTo: string } | { readonly script: string };

export interface RepositoryOptions {
  readonly branch?: string;
  /** Password that a clone needs. */
  readonly password?: string;
  /** Further files with the same content of zeros, which take almost nothing in the repository. */
  readonly zeros?: { readonly files: number; readonly bytes: number };
  /** Size of the commit's message, which git holds in memory and stores as almost nothing. */
  readonly messageBytes?: number;
}

/** What the server does instead of serving a repository. */
type Behaviour = (request: IncomingMessage, response: ServerResponse) => void;

const IDENTITY = ['-c', 'user.name=test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false'];

/** Git repositories over https on loopback, served by git itself, with a certificate of an authority of its own. */
export class GitServer {
  readonly #behaviours = new Map<string, Behaviour>();
  readonly #passwords = new Map<string, string>();
  /** Method, URL and credentials of every request. */
  readonly requests: { readonly url: string; readonly authorization: string | undefined }[] = [];

  private constructor(
    private readonly folder: string,
    private readonly server: Server,
    /** The authority's certificate. */
    readonly caFile: string,
  ) {}

  static async start(): Promise<GitServer> {
    const folder = mkdtempSync(join(tmpdir(), 'berth-git-'));
    chmodSync(folder, 0o755);
    const [key, caFile] = [join(folder, 'key.pem'), join(folder, 'ca.pem')];
    const names = ['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
    const subject = ['-subj', '/CN=localhost', '-days', '2', '-nodes'];
    const made = [
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-keyout',
      key,
      '-out',
      caFile,
    ];
    await run('openssl', ['req', '-x509', ...made, ...subject, ...names]);
    const server = createServer({ key: readFileSync(key), cert: readFileSync(caFile) });
    const git = new GitServer(folder, server, caFile);
    server.on('request', (request, response) => git.#handle(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return git;
  }

  /** `localhost:<port>` */
  get host(): string {
    return `localhost:${String((this.server.address() as AddressInfo).port)}`;
  }

  urlOf(name: string): string {
    return `https://${this.host}/${name}`;
  }

  /** Commits the files to the repository, as its only content; returns the commit. */
  async commit(
    name: string,
    files: Readonly<Record<string, RepositoryEntry>>,
    { branch = 'main', password, zeros, messageBytes = 7 }: RepositoryOptions = {},
  ): Promise<string> {
    const bare = join(this.folder, `${name}.git`);
    const tree = mkdtempSync(join(this.folder, 'tree-'));
    mkdirSync(bare, { recursive: true });
    const git = async (...args: string[]): Promise<string> =>
      (await run('git', [...IDENTITY, `--git-dir=${bare}`, `--work-tree=${tree}`, ...args], { cwd: tree }))
        .stdout;
    await git('init', '--quiet', `--initial-branch=${branch}`);
    await git('config', 'core.bare', 'false');
    await git('symbolic-ref', 'HEAD', `refs/heads/${branch}`);
    for (const [path, entry] of Object.entries(files)) place(join(tree, path), entry);
    await git('add', '--all', '--force');
    if (zeros !== undefined) {
      const file = join(this.folder, 'zeros');
      writeFileSync(file, Buffer.alloc(zeros.bytes));
      const blob = (await git('hash-object', '-w', file)).trim();
      for (let n = 0; n < zeros.files; n++)
        await git('update-index', '--add', '--cacheinfo', `100644,${blob},zeros-${String(n)}`);
      rmSync(file);
    }
    const message = join(this.folder, 'message');
    writeFileSync(message, Buffer.alloc(messageBytes, 'm'));
    await git('commit', '--quiet', '--allow-empty', '--cleanup=verbatim', '--file', message);
    rmSync(message);
    rmSync(tree, { recursive: true, force: true });
    if (password !== undefined) this.#passwords.set(name, password);
    return (await git('rev-parse', 'HEAD').catch(() => '')).trim() || (await headOf(bare));
  }

  /** Commits a tree whose folders contain `each` folders, to that depth, which share their objects. */
  async commitFolders(
    name: string,
    { levels, each }: { readonly levels: number; readonly each: number },
  ): Promise<void> {
    await this.commit(name, {});
    const git = async (args: readonly string[], input?: string): Promise<string> => {
      const running = run('git', [...IDENTITY, `--git-dir=${join(this.folder, `${name}.git`)}`, ...args]);
      // Only to a command that reads it: the write to another fails when the command ends first.
      running.child.stdin?.end(input);
      return (await running).stdout.trim();
    };
    let tree = await git(['mktree']);
    for (let level = 0; level < levels; level++) {
      const folders = Array.from({ length: each }, (_, n) => `040000 tree ${tree}\tfolder-${String(n)}\n`);
      tree = await git(['mktree'], folders.join(''));
    }
    const commit = await git(['commit-tree', '-m', 'folders', tree]);
    await git(['update-ref', 'HEAD', commit]);
  }

  /** From now on, requests below `/<name>` are handled like this. */
  on(name: string, behaviour: Behaviour): void {
    this.#behaviours.set(name, behaviour);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
    rmSync(this.folder, { recursive: true, force: true });
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', 'https://localhost');
    const name = url.pathname.split('/')[1] ?? '';
    const { authorization } = request.headers;
    this.requests.push({ url: request.url ?? '', authorization });
    const behaviour = this.#behaviours.get(name);
    if (behaviour !== undefined) return behaviour(request, response);
    const password = this.#passwords.get(name);
    const given = Buffer.from(authorization?.replace(/^Basic /, '') ?? '', 'base64').toString('utf8');
    if (password !== undefined && given.slice(given.indexOf(':') + 1) !== password) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
      return;
    }
    this.#serve(url, request, response);
  }

  /** By `git http-backend`, a CGI program. */
  #serve(url: URL, request: IncomingMessage, response: ServerResponse): void {
    const backend = spawn('git', ['http-backend'], {
      env: {
        PATH: process.env['PATH'],
        GIT_PROJECT_ROOT: this.folder,
        GIT_HTTP_EXPORT_ALL: '1',
        PATH_INFO: url.pathname.replace(/^\/([^/]+)/, '/$1.git'),
        QUERY_STRING: url.search.slice(1),
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
        HTTP_GIT_PROTOCOL: request.headers['git-protocol']?.toString() ?? '',
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'safe.directory',
        GIT_CONFIG_VALUE_0: '*',
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    backend.stdin.on('error', () => undefined);
    request.pipe(backend.stdin);
    let head = Buffer.alloc(0);
    backend.stdout.on('data', (chunk: Buffer) => {
      if (response.headersSent) return void response.write(chunk);
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      response.writeHead(...parseHead(head.subarray(0, end).toString('latin1')));
      response.write(head.subarray(end + 4));
    });
    backend.stdout.on('end', () => response.end());
    response.on('close', () => backend.kill());
  }
}

const headOf = async (bare: string): Promise<string> =>
  (await run('git', [`--git-dir=${bare}`, 'rev-parse', 'HEAD'])).stdout.trim();

const place = (path: string, entry: RepositoryEntry): void => {
  mkdirSync(dirname(path), { recursive: true });
  if (typeof entry === 'string') writeFileSync(path, entry);
  else if ('linkTo' in entry) symlinkSync(entry.linkTo, path);
  else writeFileSync(path, entry.script, { mode: 0o755 });
};

/** Status and headers of a CGI response. */
const parseHead = (text: string): [number, Record<string, string>] => {
  const headers: Record<string, string> = {};
  for (const line of text.split('\r\n')) {
    const at = line.indexOf(':');
    headers[line.slice(0, at).toLowerCase()] = line.slice(at + 1).trim();
  }
  const { status = '200', ...rest } = headers;
  return [Number.parseInt(status, 10), rest];
};

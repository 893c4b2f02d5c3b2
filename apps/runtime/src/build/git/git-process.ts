import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';

/** How to reach the one repository that a git process may talk to. */
export interface Remote {
  /** An http or https URL without user and password. */
  readonly url: string;
  /** The only addresses that its host has for git. */
  readonly addresses: readonly string[];
  /** Password; null for a public repository. */
  readonly token: string | null;
}

export interface GitOptions {
  /** Empty folder: git's home, and where it begins. */
  readonly home: string;
  /** File of certificates that replaces the system's. */
  readonly caFile: string | undefined;
  readonly path: string;
  /** Paths of the host that users must not learn from git's errors. */
  readonly hidden: readonly string[];
  /** Limit for each process: one small object of a repository can unpack to any size. */
  readonly memoryBytes: number;
}

export interface GitEnd {
  readonly code: number | null;
  /** The last characters of its error output, without the token and the hidden paths. */
  readonly complaint: string;
}

const COMPLAINT_CHARS = 8_192;
/** User of a clone with a token; hosts look at the password only. */
const USER = 'x-access-token';
const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80' };

/** Settings that hold whatever the repository contains. */
const ALWAYS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.attributesFile=/dev/null',
  'core.protectHFS=true',
  'core.protectNTFS=true',
  'submodule.recurse=false',
  'fetch.recurseSubmodules=false',
  'filter.lfs.smudge=',
  'filter.lfs.process=',
  'filter.lfs.required=false',
  'gc.auto=0',
  'maintenance.auto=false',
  // Larger files are copied in pieces instead of held in memory.
  'core.bigFileThreshold=16m',
  'pack.threads=1',
  'protocol.allow=never',
  'http.followRedirects=false',
  'http.proxy=',
  'http.lowSpeedLimit=1',
  'http.lowSpeedTime=60',
  'credential.helper=',
];

/** Its first argument is the limit, in KiB; the others are those of git. */
const WITHIN_MEMORY = 'ulimit -d "$1" || exit 125; shift; exec git "$@"';
/** Of the shell: git, whose own exit codes are others, did not start. */
const NOT_STARTED: ReadonlySet<number | null> = new Set([125, 126, 127]);

/** Asked for a password, it reads it from the pipe, which holds it once. */
const HELPER = '!f() { if test "$1" = get; then cat <&3; fi; }; f';

/**
 * Runs git without the settings of the system and its users, and without the environment of this process. The token goes
 * through a pipe: it is in no argument, environment or file. `onOutput` gets the standard output. An abort kills git with
 * everything that it started. Throws if git cannot be started.
 */
export const runGit = async (
  args: readonly string[],
  remote: Remote | null,
  { home, caFile, path, hidden, memoryBytes }: GitOptions,
  signal: AbortSignal,
  onOutput: (chunk: Buffer) => void = () => undefined,
): Promise<GitEnd> => {
  signal.throwIfAborted();
  const settings = [...ALWAYS, ...(remote === null ? [] : settingsFor(remote))];
  const limit = String(Math.floor(memoryBytes / 1024));
  const given = [...settings.flatMap((setting) => ['-c', setting]), ...args];
  const child = spawn('/bin/sh', ['-c', WITHIN_MEMORY, 'sh', limit, ...given], {
    cwd: home,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    env: {
      PATH: path,
      HOME: home,
      LC_ALL: 'C',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_ATTR_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      GIT_LFS_SKIP_SMUDGE: '1',
      ...(caFile === undefined ? {} : { GIT_SSL_CAINFO: caFile }),
    },
  });
  const kill = (): void => killGroup(child.pid);
  signal.addEventListener('abort', kill);
  const complaint = tailOf(child.stderr);
  child.stdout?.on('data', onOutput);
  writeSecret(child.stdio[3] as Writable, remote);
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    if (NOT_STARTED.has(code)) throw new Error(`git did not start: ${complaint()}`);
    return { code, complaint: withoutPaths(withoutToken(complaint(), remote), hidden) };
  } finally {
    signal.removeEventListener('abort', kill);
    kill();
  }
};

const settingsFor = ({ url, addresses, token }: Remote): readonly string[] => {
  const { protocol, hostname, port } = new URL(url);
  const scheme = protocol.slice(0, -1);
  const answers = addresses.map((address) => (address.includes(':') ? `[${address}]` : address)).join(',');
  const pinned = `${hostname}:${port === '' ? (DEFAULT_PORTS[protocol] ?? '') : port}:${answers}`;
  return [
    `protocol.${scheme}.allow=always`,
    ...(hostname === addresses[0] || hostname.startsWith('[') ? [] : [`http.curloptResolve=${pinned}`]),
    ...(token === null ? [] : [`credential.username=${USER}`, `credential.helper=${HELPER}`]),
  ];
};

const writeSecret = (pipe: Writable, remote: Remote | null): void => {
  // git may end without reading it.
  pipe.on('error', () => undefined);
  const token = remote?.token ?? null;
  pipe.end(token === null ? '' : `password=${token}\n`);
};

/** Collects the end of a stream; returns a function that returns it. */
const tailOf = (stream: Readable | null): (() => string) => {
  let tail = '';
  stream?.on('data', (chunk: Buffer) => {
    tail = (tail + chunk.toString('utf8')).slice(-COMPLAINT_CHARS);
  });
  return () => tail;
};

const withoutToken = (text: string, remote: Remote | null): string => {
  const token = remote?.token ?? '';
  return token === '' ? text : text.replaceAll(token, '********');
};

const withoutPaths = (text: string, paths: readonly string[]): string =>
  paths.reduce((rest, path) => rest.replaceAll(path, '…'), text);

const killGroup = (pid: number | undefined): void => {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of them are gone.
  }
};

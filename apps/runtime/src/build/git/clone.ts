import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { diskBytes } from '../../disk-bytes.js';
import { removeTree } from '../../remove-tree.js';
import { BuildFailure } from '../build-failure.js';
import { parseRefs } from './refs.js';
import { runGit, type GitEnd, type GitOptions, type Remote } from './git-process.js';
import { TreeSize } from './tree-size.js';

/** What to clone, and to where. */
export interface Clone {
  readonly remote: Remote;
  /** null: the branch that the repository's HEAD names. */
  readonly branch: string | null;
  /** Does not exist yet. */
  readonly folder: string;
  /** A folder for git's own files, which does not exist yet and is deleted afterwards. */
  readonly scratch: string;
  readonly caFile: string | undefined;
  readonly path: string;
  /** Limit for each process of git. */
  readonly memoryBytes: number;
}

export interface Cloned {
  readonly branch: string;
  readonly commit: string;
}

/** Limit for the checked-out tree, and for the data that the remote sends for it. */
const MAX_BYTES = 1024 ** 3;
const MEASURE_EVERY_MS = 1_000;
const REFS_WITHIN_MS = 60_000;
/** More references than any repository that people work in has. */
const REFS_BYTES = 16 * 1024 * 1024;
/** Precedes every attribute of the repository: a checked-out file has the bytes that `TreeSize` has counted. */
const ATTRIBUTES = '* -text -ident -filter !working-tree-encoding !eol\n';

/**
 * Fetches one commit and checks it out, without the repository's history, submodules and large files. Errors:
 * `BuildFailure` `clone_failed`, `branch_not_found`, `repo_too_large`; the reason of `signal`.
 */
export const clone = async (what: Clone, signal: AbortSignal): Promise<Cloned> => {
  const { scratch, folder, remote, caFile, path, memoryBytes } = what;
  if (remote.addresses.length === 0)
    throw new BuildFailure('clone_failed', 'The host of the repository could not be resolved.');
  const home = join(scratch, 'home');
  const gitDir = join(scratch, 'git');
  await removeTree(scratch);
  await mkdir(home, { recursive: true, mode: 0o700 });
  const hidden = [scratch, folder, ...(caFile === undefined ? [] : [caFile])];
  const options = { home, caFile, path, hidden, memoryBytes };
  try {
    const branch = await findBranch(what, options, signal);
    await runOrFail(['init', '--quiet', '--bare', '--template=', gitDir], null, options, signal);
    await fetchBranch(gitDir, branch, remote, options, signal);
    await checkSize(gitDir, options, signal);
    const commit = await commitOf(gitDir, options, signal);
    await checkOut(gitDir, commit, folder, options, signal);
    return { branch, commit };
  } finally {
    await removeTree(scratch);
  }
};

const findBranch = async (
  { remote, branch }: Clone,
  options: GitOptions,
  signal: AbortSignal,
): Promise<string> => {
  const late = AbortSignal.timeout(REFS_WITHIN_MS);
  const chunks: Buffer[] = [];
  let bytes = 0;
  const wanted = branch === null ? 'HEAD' : `refs/heads/${branch}`;
  const end = await runGit(
    ['ls-remote', '--symref', '--', remote.url, wanted],
    remote,
    options,
    AbortSignal.any([signal, late]),
    (chunk) => {
      bytes += chunk.length;
      if (bytes <= REFS_BYTES) chunks.push(chunk);
    },
  );
  signal.throwIfAborted();
  if (late.aborted) throw new BuildFailure('clone_failed', 'The host of the repository did not respond.');
  if (end.code !== 0) throw cloneFailed(end);
  const refs = parseRefs(Buffer.concat(chunks).toString('utf8'));
  const found = branch === null ? refs.head : refs.branches.find((name) => name === branch);
  if (found !== undefined) return found;
  const message =
    branch === null ? 'The repository has no default branch.' : `The repository has no branch ${branch}.`;
  throw new BuildFailure('branch_not_found', message);
};

const fetchBranch = async (
  gitDir: string,
  branch: string,
  remote: Remote,
  options: GitOptions,
  signal: AbortSignal,
): Promise<void> => {
  const tooLarge = new AbortController();
  const measuring = setInterval(() => {
    diskBytes(gitDir).then(
      (bytes) => bytes > MAX_BYTES && tooLarge.abort(),
      () => undefined,
    );
  }, MEASURE_EVERY_MS);
  try {
    const ref = `refs/heads/${branch}`;
    const fetch = [
      '--git-dir',
      gitDir,
      'fetch',
      '--quiet',
      '--depth=1',
      '--no-tags',
      '--no-write-fetch-head',
    ];
    const end = await runGit(
      [...fetch, '--', remote.url, `+${ref}:refs/heads/deployed`],
      remote,
      options,
      AbortSignal.any([signal, tooLarge.signal]),
    );
    signal.throwIfAborted();
    if (tooLarge.signal.aborted) throw repoTooLarge();
    if (end.code !== 0) throw cloneFailed(end);
  } finally {
    clearInterval(measuring);
  }
};

/** Measures the tree before it is checked out: a small repository can hold a huge one. */
const checkSize = async (gitDir: string, options: GitOptions, signal: AbortSignal): Promise<void> => {
  const size = new TreeSize(MAX_BYTES);
  const tooLarge = new AbortController();
  const list = ['--git-dir', gitDir, 'ls-tree', '-r', '-t', '-l', '-z', 'refs/heads/deployed'];
  const end = await runGit(list, null, options, AbortSignal.any([signal, tooLarge.signal]), (chunk) => {
    size.add(chunk);
    if (size.isTooLarge) tooLarge.abort();
  });
  signal.throwIfAborted();
  if (size.isTooLarge) throw repoTooLarge();
  if (end.code !== 0) throw cloneFailed(end);
};

const commitOf = async (gitDir: string, options: GitOptions, signal: AbortSignal): Promise<string> => {
  let text = '';
  const find = ['--git-dir', gitDir, 'rev-parse', '--verify', 'refs/heads/deployed^{commit}'];
  const end = await runGit(find, null, options, signal, (chunk) => (text += chunk.toString('utf8')));
  signal.throwIfAborted();
  if (end.code !== 0) throw cloneFailed(end);
  return text.trim();
};

const checkOut = async (
  gitDir: string,
  commit: string,
  folder: string,
  options: GitOptions,
  signal: AbortSignal,
): Promise<void> => {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await mkdir(join(gitDir, 'info'), { recursive: true });
  await writeFile(join(gitDir, 'info', 'attributes'), ATTRIBUTES);
  const to = ['-c', 'core.bare=false', '--git-dir', gitDir, '--work-tree', folder];
  await runOrFail([...to, 'checkout', '--quiet', '--force', '--detach', commit], null, options, signal);
};

/** Runs git; throws `clone_failed` when it fails. */
const runOrFail = async (
  args: readonly string[],
  remote: Remote | null,
  options: GitOptions,
  signal: AbortSignal,
): Promise<void> => {
  const end = await runGit(args, remote, options, signal);
  signal.throwIfAborted();
  if (end.code !== 0) throw cloneFailed(end);
};

const repoTooLarge = (): BuildFailure =>
  new BuildFailure('repo_too_large', 'The repository is larger than 1 GiB.');

const NO_PERMISSION = /could not read (?:Username|Password)|Authentication failed|error: 40[13]/;

const cloneFailed = ({ complaint }: GitEnd): BuildFailure => {
  if (NO_PERMISSION.test(complaint))
    return new BuildFailure(
      'clone_failed',
      'The repository does not exist, or the clone is not permitted; a private one needs tokenEnv.',
    );
  if (/error: 30\d/.test(complaint))
    return new BuildFailure('clone_failed', 'The host redirects; give the URL that it redirects to.');
  if (/out of memory/i.test(complaint))
    return new BuildFailure('clone_failed', 'The repository has objects that are too large to unpack.');
  const reason = /^fatal: (.+)$/m.exec(complaint)?.[1];
  return new BuildFailure(
    'clone_failed',
    reason === undefined ? 'The repository could not be fetched.' : `git: ${reason.slice(0, 500)}`,
  );
};

import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { walk } from './workspace.mjs';

const STORED_TYPE = /^[A-Z][A-Za-z0-9]+(\.v\d+)?$/;

/**
 * Events stay in the log forever, so every stored type needs a golden file, which may be added but never changed or
 * deleted. Compares with the last release, the merge base with the main branch, and the last commit; `BERTH_CHECK_BASE`
 * names one more commit.
 */
export const checkGoldenEvents = ({ root, packages }) => {
  const goldens = readGoldens(root);
  const problems = [...goldens.problems];
  let read = goldens.byFolder.size;
  for (const file of packages.flatMap((one) => one.files)) {
    if (!file.path.startsWith('apps/') || !file.path.endsWith('.events.ts')) continue;
    read++;
    const types = storedTypes(file);
    if (types.size === 0)
      problems.push(`${file.path} contains no stored event type; write each as a literal`);
    for (const type of types) {
      const folder = join(dirname(file.path), '__events__');
      if (!goldens.byFolder.get(folder)?.has(type))
        problems.push(`${folder} has no golden file of '${type}'`);
    }
  }
  const history = compareWithHistory(root);
  return { problems: [...problems, ...history.problems], read, notes: history.notes };
};

const readGoldens = (root) => {
  const byFolder = new Map();
  const problems = [];
  for (const path of globSync('{apps,libs}/**/__events__/*.json', {
    cwd: root,
    exclude: ['**/node_modules/**', '**/dist/**'],
  })) {
    const golden = parse(join(root, path));
    if (typeof golden?.type !== 'string' || typeof golden.data !== 'object') {
      problems.push(`${path} must be JSON with 'type' and 'data'`);
      continue;
    }
    const folder = dirname(path);
    byFolder.set(folder, (byFolder.get(folder) ?? new Set()).add(golden.type));
  }
  return { byFolder, problems };
};

const parse = (path) => {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
};

/** The literals that can be event types, which a codec compares with or stores. */
const storedTypes = (file) => {
  const types = new Set();
  walk(file.program, (node) => {
    if (node.type === 'Literal' && typeof node.value === 'string' && STORED_TYPE.test(node.value))
      types.add(node.value);
  });
  return types;
};

const compareWithHistory = (root) => {
  if (!existsSync(join(root, '.git')))
    return { problems: [], notes: ['no git history: golden files were not compared with earlier versions'] };
  const bases = new Set([git(root, 'rev-parse', 'HEAD'), git(root, 'describe', '--tags', '--abbrev=0')]);
  for (const line of ['origin/HEAD', 'origin/main']) bases.add(git(root, 'merge-base', 'HEAD', line));
  const named = process.env['BERTH_CHECK_BASE'];
  if (named) bases.add(git(root, 'merge-base', 'HEAD', named) ?? git(root, 'rev-parse', named));
  bases.delete(null);
  const problems = [...bases].flatMap((base) => changedSince(root, base));
  const notes = [];
  if (git(root, 'rev-parse', '--is-shallow-repository') === 'true') {
    notes.push(`shallow clone: golden files compared with ${bases.size} known commit(s) only`);
  }
  return { problems: [...new Set(problems)], notes };
};

const changedSince = (root, base) => {
  const found = git(
    root,
    'diff',
    '--name-status',
    '--no-renames',
    '--diff-filter=MDT',
    base,
    '--',
    '*/__events__/*.json',
  );
  if (found === null) return [`git could not compare golden events with ${base}`];
  return found
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t'))
    .map(
      ([how, path]) =>
        `${path} was ${how === 'D' ? 'deleted' : 'changed'} since ${base.slice(0, 10)}: add a '.v2' beside it`,
    );
};

const git = (root, ...args) => {
  try {
    return execFileSync('git', args, {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return null;
  }
};

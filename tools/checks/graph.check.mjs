import { dirname, posix } from 'node:path';

const ENTRIES = /\/src\/(.+\/)?main\.ts$|\/src\/index\.ts$|\.entry\.ts$/;

/**
 * Checks the imports between the files of a package: every relative import resolves, there are no cycles, no source
 * imports a test, and every source is reachable from an entry point such as index.ts or main.ts.
 */
export const checkGraph = ({ packages }) => {
  const problems = [];
  let read = 0;
  for (const one of packages) {
    const { files } = one;
    const byPath = new Map(files.map((file) => [file.path, file]));
    const edges = new Map(files.map((file) => [file.path, edgesOf(file, byPath, problems)]));
    read += files.length;
    for (const cycle of cyclesOf(edges)) problems.push(`cycle: ${[...cycle, cycle[0]].join(' → ')}`);
    const reached = reachedFrom(
      files.filter((file) => isEntry(one, file)).map((file) => file.path),
      edges,
    );
    const tested = reachedFrom(
      files.filter((file) => file.test).map((file) => file.path),
      edges,
    );
    for (const { path, test } of files) {
      if (test || reached.has(path)) continue;
      problems.push(
        `${path} is not reachable from any index.ts or main.ts${tested.has(path) ? ', only from tests' : ''}`,
      );
    }
  }
  return { problems, read };
};

const isEntry = ({ manifest, dir }, { path }) =>
  ENTRIES.test(path) ||
  Object.keys(manifest.exports ?? {}).some((name) => path === `${dir}/src/${name.slice('./'.length)}.ts`) ||
  (manifest.exports?.['./*'] !== undefined && /^[^/]+\/index\.ts$/.test(path.slice(`${dir}/src/`.length)));

const edgesOf = (file, byPath, problems) => {
  const targets = [];
  for (const { specifier, line } of file.imports) {
    if (!specifier.startsWith('.') || specifier.endsWith('.json')) continue;
    const base = posix.join(dirname(file.path), specifier);
    const target = [base.replace(/\.js$/, '.ts'), base].find((path) => byPath.has(path));
    if (target === undefined) {
      problems.push(`${file.path}:${line}: '${specifier}' does not exist`);
      continue;
    }
    if (!file.test && byPath.get(target).test)
      problems.push(`${file.path}:${line}: a source must not import the test ${target}`);
    targets.push(target);
  }
  return targets;
};

/** Strongly connected components of more than one file (Tarjan), and files that import themselves. */
const cyclesOf = (edges) => {
  const cycles = [];
  const index = new Map();
  const low = new Map();
  const stack = [];
  const visit = (path) => {
    index.set(path, index.size);
    low.set(path, index.get(path));
    stack.push(path);
    for (const next of edges.get(path)) {
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) low.set(path, Math.min(low.get(path), low.get(next)));
    }
    if (low.get(path) !== index.get(path)) return;
    const part = stack.splice(stack.indexOf(path));
    if (part.length > 1 || edges.get(path).includes(path)) cycles.push(part);
  };
  for (const path of edges.keys()) if (!index.has(path)) visit(path);
  return cycles;
};

const reachedFrom = (starts, edges) => {
  const reached = new Set(starts);
  for (const path of reached) for (const next of edges.get(path)) reached.add(next);
  return reached;
};

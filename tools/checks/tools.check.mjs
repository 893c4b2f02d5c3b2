import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const LINTED = ['apps', 'libs', 'tools'];
/** The time limit for each tool: it only has to end one that hangs, also on a machine that is many times slower. */
const DEADLINE_MS = 2_700_000;

/** Runs the typed lint on all sources. The run fails if it read no file. */
export const runOxlint = async ({ root }) => {
  const folders = LINTED.filter((folder) => existsSync(join(root, folder)));
  const { output, status } = await tool(root, 'oxlint', ['--type-aware', '--format=json', ...folders]);
  const report = readJson(output);
  if (report === null) return { problems: [output.slice(0, 4000) || `oxlint ended with ${status}`], read: 1 };
  const problems = report.diagnostics.map(({ message, code, filename, labels }) => {
    const line = labels[0]?.span.line ?? 1;
    return `${filename}:${line}: ${code ?? 'oxlint'}: ${message}`;
  });
  if (status !== 0 && problems.length === 0)
    problems.push(`oxlint ended with ${status}: ${output.slice(-1000)}`);
  return { problems, read: report.number_of_files };
};

/** Checks that every file is formatted. */
export const runOxfmt = async ({ root, packages, tools }) => {
  const { output, status } = await tool(root, 'oxfmt', ['--list-different', '.']);
  const problems = output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => `${line} (npm run format)`);
  if (status !== 0 && problems.length === 0) problems.push(`oxfmt ended with ${status}`);
  return { problems, read: packages.flatMap((one) => one.files).length + tools.length };
};

/** Checks that Nx finds every package of the workspace. */
export const runNx = async ({ root, packages }) => {
  const env = { NX_DAEMON: 'false', NX_NO_CLOUD: 'true', NX_ISOLATE_PLUGINS: 'false' };
  const { output, status } = await tool(root, 'nx', ['show', 'projects', '--json'], env);
  const shown = readJson(output.slice(output.indexOf('[')));
  if (status !== 0 || shown === null)
    return { problems: [`nx show projects: ${output.slice(-2000)}`], read: 1 };
  const problems = packages
    .map((one) => one.manifest.nx?.name ?? one.name)
    .filter((name) => !shown.includes(name))
    .map((name) => `nx does not see ${name}`);
  return { problems, read: shown.length };
};

/** Checks with knip that every declared dependency is used. */
export const runKnip = async ({ root, packages }) => {
  const { output, status } = await tool(root, 'knip', ['--reporter=json', '--no-config-hints']);
  const report = readJson(output);
  if (report === null) return { problems: [output.slice(-2000) || `knip ended with ${status}`], read: 1 };
  const problems = report.issues.flatMap(
    ({ file, dependencies = [], devDependencies = [], unlisted = [] }) => [
      ...[...dependencies, ...devDependencies].map(({ name }) => `${file}: nothing imports '${name}'`),
      ...unlisted.map(({ name }) => `${file} imports '${name}', which is not declared`),
    ],
  );
  if (status !== 0 && problems.length === 0)
    problems.push(`knip ended with ${status}: ${output.slice(-1000)}`);
  return { problems, read: packages.length };
};

const readJson = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/** Runs a tool of node_modules with the repository's Node. */
const tool = (root, name, args, env = {}) =>
  new Promise((resolve, reject) => {
    const bin = join(root, 'node_modules/.bin');
    const child = spawn(join(bin, name), args, {
      cwd: root,
      env: { ...process.env, ...env, PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}`, NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: DEADLINE_MS,
    });
    const parts = { stdout: [], stderr: [] };
    child.stdout.on('data', (chunk) => parts.stdout.push(chunk));
    child.stderr.on('data', (chunk) => parts.stderr.push(chunk));
    child.on('error', reject);
    child.on('close', (status) => {
      const text = (stream) => Buffer.concat(parts[stream]).toString('utf8');
      resolve({ output: text('stdout').trim() || text('stderr'), status });
    });
  });

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MEANINGS } from './environment-meanings.mjs';
import { formatted } from './formatted.mjs';
import { readWorkspace, walk } from './workspace.mjs';

export const ENVIRONMENT_PAGE = 'docs/environment.md';
const READERS =
  /^(string|optional|integer|optionalInteger|boolean|url|optionalUrl|partUrl|optionalPartUrl|path|oneOf)$/;
const KINDS = {
  string: 'text',
  optional: 'text',
  integer: 'whole number',
  optionalInteger: 'whole number',
  boolean: 'true or false',
  url: 'URL',
  optionalUrl: 'URL',
  partUrl: 'URL',
  optionalPartUrl: 'URL',
  path: 'path',
  oneOf: 'one of',
};
const NAME = /^[A-Z][A-Z0-9_]{2,}$/;
/** Set by every shell, or used only by the tests of this repository. */
const NOT_OURS =
  /^(PATH|HOME|CI|TERM|TERM_PROGRAM|LC_TERMINAL|KITTY_WINDOW_ID|TMUX|STY|DISPLAY|WAYLAND_DISPLAY|NODE_[A-Z_]+|npm_.*|VITEST.*|NO_COLOR|FORCE_COLOR|BERTH_CHECK_BASE|BERTH_TEST_[A-Z_]+|TMPDIR|LANG|SHELL|USER|XDG_[A-Z_]+)$/;

/** @typedef {{name: string, kind: string, fallback: string | null, reader: string}} Read */

/** All variables that the code reads, by name. */
export const variablesOf = (workspace) => {
  const found = new Map();
  const files = workspace.packages.flatMap((one) => one.files.map((file) => ({ file, reader: one.dir })));
  for (const file of workspace.tools) files.push({ file, reader: file.path });
  for (const { file, reader } of files) {
    if (file.test || file.path.startsWith('tools/checks/')) continue;
    walk(file.program, (node) => {
      const one = readOf(node, file);
      if (one === null || NOT_OURS.test(one.name)) return;
      const variable = found.get(one.name) ?? {
        name: one.name,
        readers: new Set(),
        kinds: new Set(),
        fallbacks: new Set(),
      };
      variable.readers.add(reader);
      if (one.kind !== null) variable.kinds.add(one.kind);
      if (one.fallback !== null) variable.fallbacks.add(one.fallback);
      found.set(one.name, variable);
    });
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
};

const readOf = (node, file) => {
  if (node.type === 'CallExpression' && READERS.test(node.callee.property?.name ?? '')) {
    const [first, ...rest] = node.arguments;
    if (first?.type !== 'Literal' || !NAME.test(first.value)) return null;
    const method = node.callee.property.name;
    return {
      name: first.value,
      kind: kindOf(method, rest[0], file),
      fallback: fallbackOf(method, rest, file),
    };
  }
  return directReadOf(node);
};

/** `process.env['NAME']` and `env.NAME`. */
const directReadOf = (node) => {
  if (node.type !== 'MemberExpression') return null;
  const owner =
    node.object.name ?? (node.object.object?.name === 'process' ? node.object.property.name : undefined);
  if (owner !== 'env') return null;
  const name = node.computed ? node.property.value : node.property.name;
  return typeof name === 'string' && NAME.test(name) ? { name, kind: null, fallback: null } : null;
};

const kindOf = (method, argument, file) => {
  if (method !== 'oneOf') return KINDS[method];
  const elements = argument?.elements?.map((element) => `\`${element.value}\``);
  return elements === undefined
    ? `one of ${file.text.slice(argument.start, argument.end)}`
    : elements.join(' or ');
};

const fallbackOf = (method, rest, file) => {
  const source = (node) =>
    file.text
      .slice(node.start, node.end)
      .replace(/_(?=\d)/g, '')
      .replace(/^'(.*)'$/, '$1');
  if (method.startsWith('optional')) return null;
  if (method === 'integer') {
    const value = rest[0]?.properties?.find((one) => one.key?.name === 'default')?.value;
    return value === undefined ? null : source(value);
  }
  const value = method === 'oneOf' ? rest[1] : rest[0];
  return value === undefined || value.name === 'undefined' ? null : source(value);
};

/** Renders the page of all variables. */
export const renderEnvironment = async (workspace) => {
  const rows = [...variablesOf(workspace).values()].map(({ name, readers, kinds, fallbacks }) =>
    [
      `\`${name}\``,
      MEANINGS[name] ?? '',
      [...kinds].join('; ').replaceAll('|', '\\|'),
      [...fallbacks].map((one) => (one === '' ? '' : `\`${one}\``)).join('; '),
      [...readers]
        .sort()
        .map((one) => `\`${one}\``)
        .join(', '),
    ].join(' | '),
  );
  return formatted(ENVIRONMENT_PAGE, `${HEAD}${rows.map((row) => `| ${row} |\n`).join('')}`);
};

const HEAD = `# Environment

Generated from what the code reads by \`node tools/checks/environment.mjs --write\`; \`npm test\` fails when it is out of date.

An invalid value stops the start with an error that names the variable, never its value. A variable without a default in
this table is unset by default. \`npm start\` embeds the broker, the log and the database if their URLs are unset.

| Variable | Meaning | Form | Default | Read by |
| --- | --- | --- | --- | --- |
`;

/** Checks that every variable has a meaning, every meaning a variable, and that the page is current. */
export const checkEnvironment = async (workspace) => {
  const variables = variablesOf(workspace);
  const problems = [];
  for (const { name, readers } of variables.values()) {
    if (MEANINGS[name] === undefined)
      problems.push(
        `${[...readers][0]} reads ${name}: add its meaning to tools/checks/environment-meanings.mjs`,
      );
  }
  for (const name of Object.keys(MEANINGS)) {
    if (!variables.has(name))
      problems.push(`tools/checks/environment-meanings.mjs explains ${name}, which no code reads`);
  }
  const page = join(workspace.root, ENVIRONMENT_PAGE);
  if (!existsSync(page) || readFileSync(page, 'utf8') !== (await renderEnvironment(workspace))) {
    problems.push(`${ENVIRONMENT_PAGE} is out of date: run node tools/checks/environment.mjs --write`);
  }
  return { problems, read: variables.size };
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const page = await renderEnvironment(readWorkspace(root));
  if (process.argv.includes('--write')) writeFileSync(join(root, ENVIRONMENT_PAGE), page);
  else process.stdout.write(page);
}

import { dirname, posix } from 'node:path';
import { walk } from './workspace.mjs';

/** Where commands arrive and are decided. Everything they reach in their service is on the path of a command. */
const COMMAND_PATH = /^apps\/[^/]+\/src\/.*\.(command-handler|decider|nats-controller)\.ts$/;
/** The gateway is where a command gets its id. */
const MINTS_COMMANDS = /^apps\/gateway\//;

/** What names nothing that a retried command would look for. */
const ALLOWED = new Map([
  [
    'apps/files/src/transfer/transfer-opener.ts',
    'bytes on their way belong to one call; what keeps them derives its id',
  ],
]);

const FRESH = new Set(['newId', 'randomUUID', 'typeid', 'typeidUnboxed', 'nanoid']);

/**
 * No fresh id on the path of a command: sent again, it would make a second thing. Follows relative imports, of types too,
 * because collaborators are handed in.
 */
export const checkFreshIds = ({ packages }) => {
  const problems = [];
  const reached = new Set();
  for (const { files } of packages) {
    const byPath = new Map(files.map((file) => [file.path, file]));
    const left = files.filter(
      ({ path, test }) => !test && COMMAND_PATH.test(path) && !MINTS_COMMANDS.test(path),
    );
    while (left.length > 0) {
      const file = left.pop();
      if (reached.has(file.path)) continue;
      reached.add(file.path);
      left.push(...importedBy(file, byPath));
      if (!ALLOWED.has(file.path)) problems.push(...freshIdsIn(file));
    }
  }
  for (const path of ALLOWED.keys())
    if (packages.some(({ files }) => files.some((file) => file.path === path)) && !reached.has(path))
      problems.push(`${path} is on the path of no command any more: take it off the list of this check`);
  return { problems, read: reached.size };
};

const importedBy = (file, byPath) =>
  file.imports
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ specifier }) => byPath.get(posix.join(dirname(file.path), specifier).replace(/\.js$/, '.ts')))
    .filter((target) => target !== undefined && !target.test);

const freshIdsIn = (file) => {
  const found = [];
  walk(file.program, (node) => {
    if (node.type !== 'CallExpression') return;
    const name = node.callee.type === 'MemberExpression' ? node.callee.property.name : node.callee.name;
    if (!FRESH.has(name)) return;
    const line = file.lineAt(node.start);
    found.push(
      `${file.path}:${line}: ${name}() on the path of a command: derive the id from the command's (deriveId, stepOf)`,
    );
  });
  return found;
};

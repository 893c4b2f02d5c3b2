import { dirname, posix } from 'node:path';
import { walk } from './workspace.mjs';

/** Files where commands arrive and are decided; all files they import are on the path of a command. */
const COMMAND_PATH = /^apps\/[^/]+\/src\/.*\.(command-handler|decider|nats-controller)\.ts$/;
/** The gateway creates the ids of commands. */
const MINTS_COMMANDS = /^apps\/gateway\//;

/** Files whose fresh ids name nothing that a retried command must find, with the reason. */
const ALLOWED = new Map([
  [
    'apps/exec/src/submission/attempt.ts',
    'an attempt belongs to one call; the id of the execution derives from the command',
  ],
  [
    'apps/files/src/transfer/transfer-opener.ts',
    'a transfer belongs to one call; the change that stores its bytes derives its id',
  ],
  [
    'apps/delivery/src/delivery/attempt.ts',
    'an attempt belongs to one call, and names nothing that is stored',
  ],
  [
    'apps/delivery/src/webhook/accept-webhook.ts',
    'a try belongs to one call, which refuses nothing else; the id of the delivery derives from the command',
  ],
  ['apps/llm/src/route/metered-calls.ts', 'a call is one HTTP request, which nothing repeats'],
  [
    'apps/llm/src/ledger/ledger-queue.ts',
    'the id is that of an append of many commands, each of which has the id of its call',
  ],
  ['apps/llm/src/calls/instance.ts', 'the id is that of the process'],
  [
    'apps/runtime/src/schedules/schedule-polls.ts',
    'a report belongs to one poll; the list in a repeated report equals the last polled one, which changes nothing',
  ],
]);

const FRESH = new Set(['newId', 'randomUUID', 'typeid', 'typeidUnboxed', 'nanoid']);

/**
 * Rejects fresh ids on the path of a command: a retried command would create a second entity. Follows relative imports,
 * including type imports, because collaborators are injected.
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
      problems.push(`${path} is no longer on the path of a command: remove it from the list of this check`);
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

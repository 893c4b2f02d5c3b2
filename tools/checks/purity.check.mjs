import { builtinModules } from 'node:module';
import { dirname, posix } from 'node:path';
import { packageOf, walk } from './workspace.mjs';

/** Files without side effects: the same input always gives the same result. */
const PURE = [/\.decider\.ts$/, /\.events\.ts$/, /\.plan\.ts$/, /^libs\/kernel\//, /^libs\/contracts\//];
/** The files through which time and randomness enter. */
const CLOCK_PORTS = ['libs/kernel/src/clock.ts', 'libs/kernel/src/ids.ts'];
const IMPURE_PACKAGES =
  /^(@nestjs\/|@nats-io\/|@eventstore\/|@fastify\/|typeorm$|pg$|pino$|execa$|undici$|fastify$)/;
const IMPURE_MEMBERS = [
  'Date.now',
  'Math.random',
  'performance.now',
  'crypto.randomUUID',
  'crypto.getRandomValues',
];

/** A small decider stands in one file with its codec. */
const declaresDecider = ({ path, text }) =>
  path.startsWith('apps/') && /: Decider</.test(text) && !path.endsWith('.streams.ts');
const isPure = (file) => !file.test && (PURE.some((form) => form.test(file.path)) || declaresDecider(file));
const isImpure = (specifier) =>
  specifier.startsWith('node:') ||
  builtinModules.includes(specifier) ||
  IMPURE_PACKAGES.test(packageOf(specifier) ?? '');

/** Checks that pure files import nothing with side effects, directly or indirectly, and use no clock or randomness. */
export const checkPurity = ({ packages }) => {
  const problems = [];
  let read = 0;
  for (const { files } of packages) {
    const byPath = new Map(files.map((file) => [file.path, file]));
    for (const file of files.filter(isPure)) {
      read++;
      for (const { specifier, line } of file.imports) {
        if (isImpure(specifier))
          problems.push(`${file.path}:${line}: a pure file must not import '${specifier}'`);
      }
      const chain = pathToEffect(file, byPath, new Set());
      if (chain !== null && chain.length > 2)
        problems.push(`${file.path} must be pure but reaches ${chain.slice(1).join(' → ')}`);
      if (!CLOCK_PORTS.includes(file.path)) problems.push(...clockReads(file));
    }
  }
  return { problems, read };
};

/** The chain of relative value imports from a file to a module with side effects; null if there is none. */
const pathToEffect = (file, byPath, seen) => {
  seen.add(file.path);
  for (const { specifier, typeOnly } of file.imports) {
    if (typeOnly) continue;
    if (isImpure(specifier)) return [file.path, specifier];
    if (!specifier.startsWith('.')) continue;
    const next = byPath.get(posix.join(dirname(file.path), specifier).replace(/\.js$/, '.ts'));
    if (next === undefined || seen.has(next.path)) continue;
    const rest = pathToEffect(next, byPath, seen);
    if (rest !== null) return [file.path, ...rest];
  }
  return null;
};

const clockReads = (file) => {
  const found = [];
  walk(file.program, (node) => {
    const what = clockRead(node);
    if (what === null) return;
    found.push(
      `${file.path}:${file.lineAt(node.start)}: a pure file must not use ${what}: take the value from the command`,
    );
  });
  return found;
};

const clockRead = (node) => {
  if (node.type === 'NewExpression' && node.callee.name === 'Date' && node.arguments.length === 0)
    return 'new Date()';
  if (node.type !== 'MemberExpression' || node.computed) return null;
  const owner = node.object.type === 'MemberExpression' ? node.object.property.name : node.object.name;
  const member = `${owner}.${node.property.name}`;
  return IMPURE_MEMBERS.includes(member) ? member : null;
};

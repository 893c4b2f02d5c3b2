import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { BUNDLED } from './bundle.mjs';

const run = promisify(execFile);
const ROOT = dirname(import.meta.dirname);
const PROGRAM = 'libs/greeter/dist/main.bundle.js';

let checkout = '';
const write = (path: string, text: string): void => {
  const file = join(checkout, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
};
const writeGuest = (main: string): void => {
  const program = { 'berth-bundle': './dist/main.bundle.js', default: './dist/main.js' };
  write('apps/guest/package.json', JSON.stringify({ type: 'module', exports: { './main': program } }));
  write('apps/guest/dist/main.js', main);
};
const node = async (...args: readonly string[]): Promise<string> =>
  (await run(process.execPath, [...args], { cwd: checkout })).stdout.trim();
const bundle = (): Promise<string> => node('tools/bundle.mjs');
const bundledAt = (): number => statSync(join(checkout, PROGRAM)).mtimeMs;

// A checkout with one program, which uses another of our packages and an installed one.
beforeEach(() => {
  checkout = realpathSync(mkdtempSync(join(tmpdir(), 'berth-bundle-')));
  const program = { 'berth-bundle': './dist/main.bundle.js', default: './dist/main.js' };
  const manifest = (name: string, exports: unknown): string =>
    JSON.stringify({ name, type: 'module', exports });
  write('libs/greeter/package.json', manifest('@berth/greeter', { './main': program }));
  write('libs/greeter/dist/main.js', "import { word } from '@berth/words';\nconsole.log(word);\n");
  write('libs/words/package.json', manifest('@berth/words', { '.': './dist/index.js' }));
  write(
    'libs/words/dist/index.js',
    "import installed from 'installed';\nexport const word = `first ${installed}`;\n",
  );
  write('node_modules/installed/index.js', "module.exports = 'one';\n");
  write('node_modules/.package-lock.json', '{}');
  mkdirSync(join(checkout, 'node_modules/@berth'));
  for (const name of ['greeter', 'words'])
    symlinkSync(`../../libs/${name}`, join(checkout, `node_modules/@berth/${name}`));
  symlinkSync(join(ROOT, 'node_modules/rolldown'), join(checkout, 'node_modules/rolldown'));
  cpSync(join(ROOT, 'tools/bundle.mjs'), join(checkout, 'tools/bundle.mjs'));
});
afterEach(() => rmSync(checkout, { recursive: true, force: true }));

it('a bundle runs without the files that are in it', async () => {
  await bundle();
  for (const path of ['libs/words', 'node_modules']) rmSync(join(checkout, path), { recursive: true });
  expect(await node(PROGRAM)).toBe('first one');
});

it('a bundle makes the calls that its code makes only for the error', async () => {
  write(
    'libs/words/dist/index.js',
    "export let word = 'decoded';\ntry {\n  decodeURIComponent('%');\n} catch {\n  word = 'refused';\n}\n",
  );
  await bundle();
  expect(await node(PROGRAM)).toBe('refused');
});

it('bundles are left as they are while nothing in them changes', async () => {
  await bundle();
  const before = bundledAt();
  await bundle();
  expect(bundledAt()).toBe(before);
});

it.each([
  [
    'a built file of ours',
    () => write('libs/words/dist/index.js', "export const word = 'second';\n"),
    'second',
  ],
  [
    'an installed package',
    () => {
      write('node_modules/installed/index.js', "module.exports = 'two';\n");
      write('node_modules/.package-lock.json', '{ }');
    },
    'first two',
  ],
])('after a change of %s the next run bundles it', async (_what, change, printed) => {
  await bundle();
  change();
  await bundle();
  expect(await node(PROGRAM)).toBe(printed);
});

it('what an interrupted run left is bundled again', async () => {
  await bundle();
  rmSync(join(checkout, 'dist/bundle/inputs.json'));
  write(PROGRAM, 'half of a');
  await bundle();
  expect(await node(PROGRAM)).toBe('first one');
});

it('a program that was started without the option finds the built programs, so that no old bundle runs', async () => {
  await bundle();
  const resolve = "console.log(require.resolve('@berth/greeter/main'))";
  expect(await node('-e', resolve)).toBe(join(checkout, 'libs/greeter/dist/main.js'));
  expect(await node(BUNDLED, '-e', resolve)).toBe(join(checkout, PROGRAM));
});

it('a guest loads a module of Node at its first use', async () => {
  writeGuest(`
    import { createHash } from 'node:crypto';
    const isLoaded = () => process.moduleLoadList.includes('NativeModule crypto');
    const before = isLoaded();
    console.log(before, createHash('sha256').update('').digest('hex').slice(0, 6), isLoaded());`);
  await bundle();
  expect(await node('apps/guest/dist/main.bundle.js')).toBe('false e3b0c4 true');
});

it('a guest can extend what a module of Node is', async () => {
  writeGuest("import words from './words.cjs';\nconsole.log(words);\n");
  write(
    'apps/guest/dist/words.cjs',
    "class Word extends require('events') {}\nmodule.exports = new Word().listenerCount('x');\n",
  );
  await bundle();
  expect(await node('apps/guest/dist/main.bundle.js')).toBe('0');
});

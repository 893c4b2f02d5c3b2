import { execFile } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { environmentWith, ROOT } from '../ensure-installed.mjs';

// A workspace with our configuration of Nx, and a package `a` that uses the package `b`.

let workspace = '';
const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(workspace, path)), { recursive: true });
  writeFileSync(join(workspace, path), text);
};
const pack = (name: string, dependencies: object): void => {
  write(`libs/${name}/package.json`, JSON.stringify({ name: `@berth/${name}`, nx: { name }, dependencies }));
  write(`libs/${name}/tsconfig.json`, '{}');
  write(`libs/${name}/README.md`, name);
  write(`libs/${name}/src/${name}.ts`, `export const read = 'docs/read.md';\n`);
  write(`libs/${name}/src/${name}.spec.ts`, '');
};

beforeAll(() => {
  workspace = realpathSync(mkdtempSync(join(tmpdir(), 'berth-nx-')));
  write('package.json', JSON.stringify({ name: 'workspace', workspaces: ['libs/*'] }));
  write('package-lock.json', JSON.stringify({ lockfileVersion: 3, packages: {} }));
  write('vitest.config.ts', '');
  write('docs/read.md', 'read');
  write('docs/unread.md', 'unread');
  write('tools/test.mjs', 'console.log(`tested ${process.argv.at(-1)}`);');
  for (const path of ['nx.json', 'tools/nx'])
    cpSync(join(ROOT, path), join(workspace, path), { recursive: true });
  write('tools/nx/image-target.mjs', `export const createNodesV2 = ['none', () => []];`);
  symlinkSync(join(ROOT, 'node_modules'), join(workspace, 'node_modules'));
  // The tests of the tools use these.
  for (const name of ['contracts', 'service', 'b']) pack(name, {});
  pack('a', { '@berth/b': '*' });
});
afterAll(() => rmSync(workspace, { recursive: true, force: true }));

/** Returns the packages whose tests ran; the others were taken from the cache. */
const test = async (): Promise<readonly string[]> => {
  const { PATH, ...environment } = environmentWith(process.execPath) as NodeJS.ProcessEnv;
  const env = {
    ...environment,
    NX_ISOLATE_PLUGINS: 'false',
    PATH: [join(ROOT, 'node_modules/.bin'), PATH].join(delimiter),
    NX_DAEMON: 'false',
  };
  const args = ['run-many', '--targets=test', '--projects=a,b', '--output-style=stream'];
  const { stdout } = await promisify(execFile)('nx', args, { cwd: workspace, env });
  const runs = stdout.split('\n> nx run ').slice(1);
  return runs
    .filter((run) => !/^.*(cache|existing outputs)/.test(run))
    .map((run) => run.slice(0, 1))
    .toSorted();
};

const change = (...paths: readonly string[]): void => {
  for (const path of paths) appendFileSync(join(workspace, path), '\n');
};

it('tests run again when a source that they depend on changes, and not when another file does', async () => {
  expect(await test()).toEqual(['a', 'b']);
  change('libs/b/src/b.ts');
  expect(await test()).toEqual(['a', 'b']);
  // Nobody who uses `b` imports its spec, and no test reads the pages.
  change('libs/b/src/b.spec.ts', 'docs/unread.md', 'libs/a/README.md');
  expect(await test()).toEqual(['b']);
  change('libs/a/src/a.ts', 'libs/b/README.md');
  expect(await test()).toEqual(['a']);
  change('docs/read.md');
  expect(await test()).toEqual(['a', 'b']);
  change('tools/test.mjs');
  expect(await test()).toEqual(['a', 'b']);
});

import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { generate } from './generator.mjs';

const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url));
const SERVICES = ['parcels', 'air-parcels'];
/** What generated services refer to. */
const SHARED = [
  ...['node_modules', 'tsconfig.base.json', 'libs/kernel', 'libs/platform'],
  ...['libs/contracts/tsconfig.json', 'libs/contracts/src/schema'],
];

/** Nx's tree over this repository; changes stay in memory. */
const treeInMemory = () => {
  const written = new Map<string, string>();
  return {
    root: REPOSITORY,
    written,
    exists: (path: string) => written.has(path) || existsSync(join(REPOSITORY, path)),
    read: (path: string) => written.get(path) ?? readFileSync(join(REPOSITORY, path), 'utf8'),
    write: (path: string, text: string) => void written.set(path, text),
    listChanges: () => [...written.keys()].map((path) => ({ path })),
  };
};

/** A workspace that contains only the generated services, and uses the packages of this repository. */
const workspaceOf = (services: readonly ReadonlyMap<string, string>[]): string => {
  const workspace = mkdtempSync(join(tmpdir(), 'berth-generated-'));
  onTestFinished(() => rmSync(workspace, { recursive: true, force: true }));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(workspace, path)), { recursive: true });
    writeFileSync(join(workspace, path), text);
  };
  for (const [path, text] of services.flatMap((written) => [...written])) {
    // The prefix is not part of the kernel that is built here.
    if (/parcels\//.test(path)) write(path, text.replaceAll("'pcl'", "'dep'"));
  }
  write('package.json', '{ "type": "module" }');
  for (const path of SHARED) symlinkSync(join(REPOSITORY, path), join(workspace, path));
  const contracts = SERVICES.map((name) => [
    `@berth/contracts/${name}`,
    join(workspace, `libs/contracts/src/${name}/index.ts`),
  ]);
  const paths = Object.fromEntries(contracts.map(([name, path]) => [name, [path]])) as object;
  const compilerOptions = { noEmit: true, composite: false, rootDir: '/', paths };
  const base = join(REPOSITORY, 'tsconfig.base.json');
  write('tsconfig.json', JSON.stringify({ extends: base, compilerOptions, include: ['apps'] }));
  const test = { include: ['apps/**/*.spec.ts'], isolate: false };
  const alias = Object.fromEntries(contracts) as object;
  write('vitest.config.mjs', `export default ${JSON.stringify({ resolve: { alias }, test })};`);
  return workspace;
};

const run = (workspace: string, program: string, ...args: readonly string[]) =>
  spawnSync(process.execPath, [join(REPOSITORY, 'node_modules', program), ...args], {
    cwd: workspace,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' },
  });

it('generated services are 13 files and three edits, compile against the platform and pass their unit specs', () => {
  const services = SERVICES.map((name) => {
    const tree = treeInMemory();
    generate(tree as never, { name, prefix: 'pcl' });
    const edited = [...tree.written.keys()].filter((path) => existsSync(join(REPOSITORY, path)));
    expect([edited.length, tree.written.size - edited.length]).toEqual([3, 13]);
    expect(tree.written.get('docker-compose.yml')).toContain(name);
    expect(tree.written.get('libs/kernel/src/ids.ts')).toContain("| 'pcl';");
    return tree.written;
  });
  const workspace = workspaceOf(services);

  const compiled = run(workspace, 'typescript/bin/tsc', '-p', workspace);
  expect(compiled.stdout).toBe('');
  expect(compiled.status).toBe(0);

  const tested = run(workspace, 'vitest/vitest.mjs', 'run');
  expect(tested.stdout + tested.stderr).toMatch(/Test Files +2 passed/);
  expect(tested.status).toBe(0);
});

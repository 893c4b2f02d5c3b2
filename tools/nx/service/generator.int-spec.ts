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

it.each(['parcels', 'air-parcels'])(
  'the generated service %s compiles against the platform, and every shared list contains it',
  (name) => {
    const tree = treeInMemory();
    generate(tree as never, { name, prefix: 'pcl' });
    for (const path of ['tsconfig.json', 'apps/standalone/src/services.ts', 'docker-compose.yml'])
      expect(tree.written.get(path)).toContain(name);
    expect(tree.written.get('libs/kernel/src/ids.ts')).toContain("| 'pcl';");

    const workspace = mkdtempSync(join(tmpdir(), 'berth-generated-'));
    onTestFinished(() => rmSync(workspace, { recursive: true, force: true }));
    for (const [path, text] of tree.written) {
      if (!/parcels/.test(path)) continue;
      mkdirSync(dirname(join(workspace, path)), { recursive: true });
      // The prefix is not part of the kernel that is built here.
      writeFileSync(join(workspace, path), text.replaceAll("'pcl'", "'dep'"));
    }
    writeFileSync(join(workspace, 'package.json'), '{ "type": "module" }');
    for (const path of ['node_modules', 'libs/contracts/src/schema'])
      symlinkSync(join(REPOSITORY, path), join(workspace, path));
    const compilerOptions = {
      noEmit: true,
      composite: false,
      rootDir: '/',
      paths: { [`@berth/contracts/${name}`]: [join(workspace, `libs/contracts/src/${name}/index.ts`)] },
    };
    writeFileSync(
      join(workspace, 'tsconfig.json'),
      JSON.stringify({ extends: join(REPOSITORY, 'tsconfig.base.json'), compilerOptions, include: ['apps'] }),
    );
    const compiler = join(REPOSITORY, 'node_modules/typescript/bin/tsc');
    const { stdout, status } = spawnSync(process.execPath, [compiler, '-p', workspace], { encoding: 'utf8' });
    expect(stdout).toBe('');
    expect(status).toBe(0);
  },
);

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { completeDeclarations } from './declarations.mjs';
import { checkDeclarations } from './imports.check.mjs';
import { Scratch } from './workspace.fixture.js';
import { readWorkspace } from './workspace.mjs';

const read = (scratch: Scratch, path: string) =>
  JSON.parse(readFileSync(join(scratch.root, path), 'utf8')) as unknown;

it('the writer of the generated files declares imported packages of this repository', async () => {
  using scratch = new Scratch();
  scratch.pack('libs/p', 'platform', { 'index.ts': '' }).pack('libs/t', 'platform', { 'index.ts': '' });
  scratch.pack('apps/a', 'app', { 'index.ts': `import '@berth/p';`, 'a.spec.ts': `import '@berth/t';` });
  for (const dir of ['libs/p', 'libs/t', 'apps/a']) scratch.write(`${dir}/tsconfig.json`, '{}');
  scratch.write('tsconfig.json', '{ "references": [{ "path": "./libs/p" }] }');
  await completeDeclarations(readWorkspace(scratch.root));
  expect(checkDeclarations(readWorkspace(scratch.root)).problems).toEqual([]);
  expect(read(scratch, 'apps/a/package.json')).toMatchObject({
    dependencies: { '@berth/p': '*' },
    devDependencies: { '@berth/t': '*' },
  });
  const everyPackage = ['./libs/p', './apps/a', './libs/t'].map((path) => ({ path }));
  expect(read(scratch, 'tsconfig.json')).toEqual({ references: everyPackage });
});

it('a package without a tsconfig.json gets one that builds it after what it imports', async () => {
  using scratch = new Scratch();
  scratch.pack('libs/p', 'platform', { 'index.ts': '' });
  scratch.pack('apps/a', 'app', { 'index.ts': `import '@berth/p';` });
  scratch.write('tsconfig.json', '{ "references": [] }');
  await completeDeclarations(readWorkspace(scratch.root));
  expect(read(scratch, 'apps/a/tsconfig.json')).toEqual({
    extends: '../../tsconfig.base.json',
    compilerOptions: { rootDir: 'src', outDir: 'dist', tsBuildInfoFile: 'dist/.tsbuildinfo' },
    include: ['src'],
    references: [{ path: '../../libs/p' }],
  });
});

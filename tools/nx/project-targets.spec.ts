import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createNodesV2 } from './project-targets.mjs';

let workspace = '';
beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), 'berth-targets-'));
});
afterEach(() => rmSync(workspace, { recursive: true, force: true }));

const write = (path: string, text = ''): void => {
  mkdirSync(dirname(join(workspace, path)), { recursive: true });
  writeFileSync(join(workspace, path), text);
};

interface Project {
  readonly implicitDependencies: readonly string[];
  readonly namedInputs: Readonly<Record<'read' | 'readByDependants', readonly string[]>>;
  readonly targets: Readonly<
    Record<string, { readonly options: { readonly command: string }; readonly inputs: readonly unknown[] }>
  >;
}

/** The project that the plugin makes of a file, as Nx calls it. */
const projectOf = (file: string): Project => {
  const [, create] = createNodesV2;
  const [[, { projects }]] = create([file], undefined, { workspaceRoot: workspace }) as unknown as [
    [string, { projects: Record<string, Project> }],
  ];
  return projects[dirname(file)] as Project;
};

describe('the targets of a project', () => {
  it('run the tests of its folder, and those of the whole stack apart', () => {
    write('apps/a/src/one.int-spec.ts');
    write('apps/a/src/e2e/two.e2e-spec.ts');
    const { targets } = projectOf('apps/a/tsconfig.json');
    expect(Object.keys(targets).toSorted()).toEqual(['build', 'e2e', 'lint', 'test', 'typecheck']);
    expect(targets['test']?.options.command).toMatch(/'--project=!e2e\*' '--project=!long' apps\/a\/$/);
    expect(targets['e2e']?.options.command).toMatch(/'--project=e2e\*' apps\/a\/$/);
  });

  it('have no tests where the folder has none, or only of the long lane', () => {
    write('apps/a/src/one.ts');
    write('apps/a/src/two.long-spec.ts');
    expect(Object.keys(projectOf('apps/a/tsconfig.json').targets)).toEqual(['build', 'typecheck', 'lint']);
  });

  it('of the tools have no build', () => {
    write('tools/checks/one.spec.ts');
    expect(Object.keys(projectOf('tools/test.mjs').targets)).toEqual(['lint', 'test']);
  });
});

describe('the tests of a project depend on', () => {
  it.each([
    ['the arguments of', `spawn(node, programArguments('guest'));`],
    ['the path of', `require.resolve('@berth/guest/main');`],
  ])('a program that they start, by %s it', (_what, text) => {
    write('apps/guest/package.json');
    write('apps/a/src/one.fixture.ts', text);
    expect(projectOf('apps/a/tsconfig.json').implicitDependencies).toEqual(['guest']);
  });

  it('no program that exists only in their text, and not on their own', () => {
    write('apps/a/src/one.fixture.ts', `programArguments('greeter'); programArguments('a');`);
    expect(projectOf('apps/a/tsconfig.json').implicitDependencies).toEqual([]);
  });

  it('what runs them with all that it imports, and on the user', () => {
    write('tools/test.mjs', `import { one } from './costs/one.mjs';`);
    write('tools/costs/one.mjs', `import { two } from '../two.mjs';`);
    write('tools/two.mjs', `import { readFileSync } from 'node:fs';`);
    write('tools/other.mjs');
    write('apps/a/src/one.spec.ts');
    const inputs = projectOf('apps/a/tsconfig.json').targets['test']?.inputs ?? [];
    const run = ['tools/test.mjs', 'tools/costs/one.mjs', 'tools/two.mjs'].map(
      (path) => `{workspaceRoot}/${path}`,
    );
    expect(inputs).toEqual(expect.arrayContaining([...run, { runtime: 'id -u' }]));
    expect(inputs).not.toContain('{workspaceRoot}/tools/other.mjs');
  });

  it.each([
    ['folder', `new URL('../../../infra/templates', import.meta.url)`, 'infra/templates'],
    ['file', `join(REPOSITORY, 'docker-compose.yml')`, 'docker-compose.yml'],
    ['page', "`../../../../docs/${'page'}`", 'docs'],
  ])('a %s outside of it that they read', (_kind, text, path) => {
    write('docker-compose.yml');
    write('docs/page.md');
    write('infra/templates/echo/agent.mjs');
    write('apps/a/src/one.spec.ts', text);
    const { read, readByDependants } = projectOf('apps/a/tsconfig.json').namedInputs;
    expect(read).toEqual([`{workspaceRoot}/${path}`, `{workspaceRoot}/${path}/**/*`]);
    // Nobody imports a spec.
    expect(readByDependants).toEqual([]);
  });

  it('what a fixture reads outside, also for those that use the fixture', () => {
    write('infra/templates/echo/agent.mjs');
    write('apps/a/src/one.fixture.ts', `'../../../infra/templates'`);
    const { read, readByDependants } = projectOf('apps/a/tsconfig.json').namedInputs;
    expect(readByDependants).toEqual(read);
    expect(read).toContain('{workspaceRoot}/infra/templates');
  });

  it('nothing that only a comment names, that does not exist, or that is their own', () => {
    write('docs/page.md');
    write('apps/a/src/one.ts', "// as `docs/page.md` says\n'docs/gone.md'; 'apps/a/src/one.ts';");
    expect(projectOf('apps/a/tsconfig.json').namedInputs.read).toEqual([]);
  });
});

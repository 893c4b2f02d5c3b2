import { describe, expect, it } from 'vitest';
import { checkConflicts, checkLinks, checkPrivatePaths, checkReadmes } from './docs.check.mjs';
import { checkEnvironment, variablesOf } from './environment.mjs';
import { checkMetrics, metricsOf } from './metrics.mjs';
import { checkSubjects, renderSubjects } from './subjects.mjs';
import { Scratch } from './workspace.fixture.js';
import { readWorkspace } from './workspace.mjs';

const problemsOf = (check: (workspace: never) => { problems: readonly string[] }, scratch: Scratch): string =>
  check(readWorkspace(scratch.root) as never).problems.join('\n');

describe('pages', () => {
  it('link only to files and headings that exist', () => {
    using scratch = new Scratch();
    scratch.pack('apps/a', 'app', { 'index.ts': '' }).write('docs/two.md', '# Some *heading*\n');
    scratch.write(
      'README.md',
      '[a](docs/two.md#some-heading) [b](docs/gone.md) [c](docs/two.md#no) `apps/a/src/gone.ts` `apps/a/src/index.ts`\n```\n[d](x.md)\n```\n',
    );
    const found = problemsOf(checkLinks, scratch);
    expect(found.split('\n')).toHaveLength(3);
    expect(found).toMatch(/gone\.md leads nowhere/);
    expect(found).toMatch(/#no names no heading/);
    expect(found).toMatch(/src\/gone\.ts`, which does not exist/);
  });

  it('of apps state what the app hears, decides, remembers and tells', () => {
    using scratch = new Scratch();
    scratch
      .pack('apps/a', 'app', {})
      .pack('apps/b', 'app', {})
      .write('apps/a/README.md', '- **hears** x\n- decides y\n*remembers* z\n');
    const found = problemsOf(checkReadmes, scratch);
    expect(found).toMatch(/apps\/a\/README\.md does not say what it tells/);
    expect(found).toMatch(/apps\/b\/README\.md is missing/);
  });

  it('contain no path of the machine they were written on', () => {
    using scratch = new Scratch();
    const home = ['', 'home', 'somebody'].join('/');
    scratch.pack('apps/a', 'app', {
      'a.ts': `// see ${home}/notes`,
      'b.ts': `const home = 'https://example.org${home}';`,
    });
    expect(problemsOf(checkPrivatePaths, scratch)).toMatch(/^apps\/a\/src\/a\.ts:1 names/);
  });

  it('and sources contain no mark of an unresolved conflict, formatted or not', () => {
    using scratch = new Scratch();
    const [ours, theirs] = ['<'.repeat(7), '>'.repeat(7)];
    scratch.pack('apps/a', 'app', {
      'a.ts': `${ours} HEAD\nexport const a = 1;\n=======\n${theirs} 1234abc (Change a)\n`,
      'b.ts': `const shift = 1 ${theirs} 2;\n`,
    });
    scratch.write(
      'docs/page.md',
      `# Title\n\n> a quote\n> > in a quote\n\n${'> '.repeat(7)}1234abc (Change it)\n`,
    );
    expect(problemsOf(checkConflicts, scratch).split('\n').toSorted()).toEqual(
      ['apps/a/src/a.ts:1', 'apps/a/src/a.ts:4', 'docs/page.md:6'].map(
        (place) => `${place} contains the mark of an unresolved conflict`,
      ),
    );
  });

  it('of subjects list every request and event, and reject malformed and duplicate subjects', async () => {
    using scratch = new Scratch();
    scratch.contract('c', {
      'c.ts': `export const r = { a: defineRequest<Ask, Answer | null>('cmd.c.do-it.v1', 4_000), b: defineRequest('cmd.c.do-it.v1'), d: defineRequest('c.odd') };`,
      'e.ts': `export const e = { done: defineEvent('c', 'done', Done) };`,
    });
    const workspace = readWorkspace(scratch.root);
    const page = await renderSubjects(workspace);
    expect(page).toMatch(/`cmd\.c\.do-it\.v1`\s*\| `Ask`\s*\| `Answer \\\| null`\s*\| 4 s/);
    expect(page).toContain('evt.c.done.v1.<account>.<id>');
    const { problems } = await checkSubjects(workspace);
    expect(problems.join('\n')).toMatch(
      /'c\.odd' is not a valid subject[\s\S]*defined twice|defined twice[\s\S]*'c\.odd'/,
    );
    expect(problems.join('\n')).toMatch(/out of date/);
  });

  it('of metrics list each metric with its labels', async () => {
    using scratch = new Scratch();
    scratch.pack('apps/a', 'app', {
      'a.ts': `export const c = metrics.counter('berth_things', 'Things.', ['kind']);\nexport const h = metrics.histogram('berth_a_seconds', 'Time.', 's', [0.1, 1], ['outcome']);`,
    });
    const workspace = readWorkspace(scratch.root);
    const found = metricsOf(workspace).map(({ name, kind, labels }) => [name, kind, ...labels]);
    expect(found).toEqual([
      ['berth_a_seconds', 'histogram', 'outcome'],
      ['berth_things', 'counter', 'kind'],
    ]);
    expect((await checkMetrics(workspace)).problems).toHaveLength(1);
  });

  it('of the environment list every variable that is read, with its form and default', async () => {
    using scratch = new Scratch();
    scratch.pack('apps/a', 'app', {
      'config.ts': `export const r = (env: R) => ({ a: env.integer('BERTH_A', { default: 1_000, max: 9 }), b: env.oneOf('BERTH_B', ['x', 'y'], 'x') }); process.env['BERTH_C'];`,
    });
    const workspace = readWorkspace(scratch.root);
    const found = [...variablesOf(workspace).values()].map(({ name, kinds, fallbacks }) => [
      name,
      [...kinds][0],
      [...fallbacks][0],
    ]);
    expect(found).toEqual([
      ['BERTH_A', 'whole number', '1000'],
      ['BERTH_B', '`x` or `y`', 'x'],
      ['BERTH_C', undefined, undefined],
    ]);
    expect((await checkEnvironment(workspace)).problems.join('\n')).toMatch(/reads BERTH_A: add its meaning/);
  });
});

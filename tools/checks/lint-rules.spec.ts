import { describe, expect, it } from 'vitest';
import { runOxlint, runOxfmt } from './tools.check.mjs';
import { readWorkspace } from './workspace.mjs';
import { Scratch } from './workspace.fixture.js';

/** One violation of each lint rule that this repository relies on. */
const VIOLATIONS: readonly (readonly [rule: string, text: string])[] = [
  ['no-floating-promises', `const f = async () => 1;\nexport const g = () => {\n  f();\n};`],
  ['no-misused-promises', `const f = async () => {};\nexport const g = () => [1].forEach(async () => f());`],
  [
    'switch-exhaustiveness-check',
    `export const g = (u: 'x' | 'y') => { switch (u) { case 'x': return 1; } return 2; };`,
  ],
  ['only-throw-error', `export const g = () => { throw 'text'; };`],
  ['no-explicit-any', `export const g = (x: any) => x;`],
  ['no-non-null-assertion', `export const g = (x?: string) => x!.length;`],
  ['no-default-export', `export default function g() {}`],
  ['no-console', `console.log(1);\nexport {};`],
  [
    'max-params',
    `export class A { constructor(readonly a: 1, readonly b: 1, readonly c: 1, readonly d: 1, readonly e: 1, readonly f: 1, readonly g: 1) {} }`,
  ],
  ['max-lines', `export {};\n${'// a line\n'.repeat(300)}`],
  ['max-lines-per-function', `export const g = (f: () => void) => {\n${'  f();\n'.repeat(60)}};`],
  [
    'complexity',
    `export const g = (n: number) => ${Array.from({ length: 16 }, (_, n) => `n === ${n} ? ${n} : `).join('')}n;`,
  ],
  [
    'max-depth',
    `export const g = (a: boolean) => { if (a) { if (a) { if (a) { if (a) { if (a) { return; } } } } } };`,
  ],
  [
    'preserve-caught-error',
    `export const g = (f: () => void) => { try { f(); } catch (error) { throw new Error('x'); } };`,
  ],
];

const lint = async (files: Readonly<Record<string, string>>): Promise<string> => {
  using scratch = new Scratch();
  scratch.withTools().pack('libs/lab', 'platform', { 'other.ts': 'export class Scratch {}', ...files });
  const { problems } = await runOxlint(readWorkspace(scratch.root));
  return problems.join('\n');
};

describe('the typed lint', () => {
  it('reports a violation of each rule that this repository relies on', async () => {
    const found = await lint(Object.fromEntries(VIOLATIONS.map(([rule, text]) => [`${rule}.ts`, text])));
    for (const [rule] of VIOLATIONS)
      expect(found).toMatch(new RegExp(`/${rule}\\.ts:\\d+: \\w+\\(${rule}\\)`));
  });

  it('reports a promise without a handler, also one that is marked as such', async () => {
    const f = 'const f = async () => 1;';
    expect(await lint({ 'a.ts': `${f}\nexport const g = () => {\n  void f();\n};` })).toMatch(
      /no-floating-promises/,
    );
  });

  it('reports a cycle of imports', async () => {
    const found = await lint({
      'a.ts': `import { b } from './b.js';\nexport const a = () => b();`,
      'b.ts': `import { a } from './a.js';\nexport const b = (): unknown => a();`,
    });
    expect(found).toMatch(/import\(no-cycle\)/);
  });

  it('rejects focused and skipped tests', async () => {
    const found = await lint({
      'a.spec.ts': `import { expect, it } from 'vitest';\nit.only('a', () => expect(1).toBe(1));\nit.skip('b', () => expect(1).toBe(1));`,
    });
    expect(found).toMatch(/no-focused-tests/);
    expect(found).toMatch(/no-disabled-tests/);
  });

  it('accepts correct code, including long tests', async () => {
    const test = `import { expect, it } from 'vitest';\nit('holds', () => {\n${'  expect(1).toBe(1);\n'.repeat(80)}});\n`;
    expect(
      await lint({ 'good.ts': 'export const g = async (): Promise<number> => 1;\n', 'a.spec.ts': test }),
    ).toBe('');
  });

  it('fails when there is nothing to lint', async () => {
    using scratch = new Scratch();
    scratch.withTools();
    const { problems, read } = await runOxlint(readWorkspace(scratch.root));
    expect(problems.length > 0 || read === 0).toBe(true);
  });
});

describe('the formatting', () => {
  it('names each file that oxfmt would change', async () => {
    using scratch = new Scratch();
    scratch.withTools().pack('libs/lab', 'platform', {
      'ugly.ts': 'export   const a="b"',
      'fine.ts': `export const a = 'b';\n`,
    });
    const { problems } = await runOxfmt(readWorkspace(scratch.root));
    expect(problems.join('\n')).toMatch(/ugly\.ts/);
    expect(problems.join('\n')).not.toMatch(/fine\.ts/);
  });
});

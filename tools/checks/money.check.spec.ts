import { describe, expect, it } from 'vitest';
import { checkMoney } from './money.check.mjs';
import { Scratch } from './workspace.fixture.js';
import { readWorkspace } from './workspace.mjs';

const problemsIn = (source: string): string => {
  using scratch = new Scratch();
  scratch.pack('libs/a', 'platform', { 'a.ts': source });
  return checkMoney(readWorkspace(scratch.root)).problems.join('\n');
};

describe('money', () => {
  const computing = `import { parseCents } from '@berth/kernel';\n`;
  it.each([
    ['a file that computes with money', `${computing}export const f = (x: bigint) => Number(x);`],
    ['a file that rounds', `${computing}export const f = (x: number) => Math.ceil(x);`],
    ['a file that shows decimals', `${computing}export const f = (x: number) => x.toFixed(2);`],
    ['an amount converted anywhere', 'export const f = (costCents: bigint) => Number(costCents);'],
    [
      'an amount calculated anywhere',
      'export const f = (row: { costCents: number }) => row.costCents * 1.5;',
    ],
    ['a column', 'export const TABLE = `CREATE TABLE calls (cost_millionths double precision)`;'],
    ['a cast', 'export const QUERY = `SELECT cost_cents::real FROM calls`;'],
  ])('as a float is reported: %s', (_what, source) => {
    expect(problemsIn(source)).toMatch(/^libs\/a\/src\/a\.ts:\d: /);
  });

  it('as bigint and numeric passes', () => {
    const text = `${computing}export const f = (x: string) => BigInt(x) * 3n;\nexport const T = 'cost_cents numeric';`;
    expect(problemsIn(text)).toBe('');
  });
});

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
    ['a cast in words', 'export const QUERY = `SELECT CAST(month_price AS float8) FROM plans`;'],
    ['a cast of a sum', 'export const QUERY = `SELECT sum(cost)::double precision FROM calls`;'],
    [
      'an amount inside of what is converted',
      `export const f = (row: Record<string, string>) => Number(row['cost'] ?? '0');`,
    ],
    ['an amount shown with decimals', 'export const f = (balance: number) => balance.toFixed(2);'],
  ])('as a float is reported: %s', (_what, source) => {
    expect(problemsIn(source)).toMatch(/^libs\/a\/src\/a\.ts:\d: /);
  });

  /** One file of the package calculates prices; the other is this. */
  const beside = (source: string): string => {
    using scratch = new Scratch();
    const pricing = `import { divideUp } from '@berth/kernel';\nexport const f = divideUp;`;
    scratch.pack('libs/a', 'platform', { 'pricing.ts': pricing, 'a.ts': source });
    return checkMoney(readWorkspace(scratch.root)).problems.join('\n');
  };

  it.each([
    ['a cast', 'export const QUERY = `SELECT sum(ai)::float8 FROM days`;'],
    ['a column', 'export const TABLE = `CREATE TABLE days (ai numeric, vcpu real)`;'],
    ['an amount by a name of its own', 'export const f = (row: { ai: string }) => Number(row.ai);'],
    ['an own amount calculated', 'export const f = (settled: number) => settled / 100;'],
    ['a fraction read', 'export const f = (text: string) => parseFloat(text);'],
    ['a fraction shown', 'export const f = (sum: number) => sum.toFixed(2);'],
  ])('beside prices, %s as a float is reported', (_what, source) => {
    expect(beside(source)).toMatch(/^libs\/a\/src\/a\.ts:1: /);
  });

  it('beside prices, counts and times may be numbers', () => {
    expect(beside('export const f = (row: { wakes: string }) => Number(row.wakes) * 2;')).toBe('');
    expect(beside('export const QUERY = `SELECT sum(ai)::numeric, day::int AS real_day FROM days`;')).toBe(
      '',
    );
  });

  it('in a tool is reported too', () => {
    using scratch = new Scratch();
    scratch.pack('libs/a', 'platform', { 'a.ts': 'export const one = 1;' });
    scratch.write('tools/print.mjs', 'export const f = (totalCents) => totalCents / 100;');
    expect(checkMoney(readWorkspace(scratch.root)).problems).toMatchObject([
      expect.stringMatching(/^tools\/print\.mjs:1: /),
    ]);
  });

  it('as bigint and numeric passes', () => {
    const text = `${computing}export const f = (x: string) => BigInt(x) * 3n;\nexport const T = 'cost_cents numeric';`;
    expect(problemsIn(text)).toBe('');
  });
});

import { describe, expect, it } from 'vitest';
import { PreparedStatements } from './prepared-statements.js';

describe('prepared statements', () => {
  it('give each text one name, and none to texts without values', () => {
    const prepared = new PreparedStatements();
    const name = prepared.nameOf('SELECT $1', [1]);
    expect(name).toBeDefined();
    expect(prepared.nameOf('SELECT $1', [2])).toBe(name);
    expect(prepared.nameOf('SELECT $1::text', [2])).not.toBe(name);
    expect(prepared.nameOf('SELECT 1', [])).toBeUndefined();
  });

  it('stay bounded, however many texts there are', () => {
    const prepared = new PreparedStatements();
    const names = Array.from({ length: 1_000 }, (_, n) => prepared.nameOf(`SELECT $1 + ${String(n)}`, [1]));
    expect(names.filter((name) => name !== undefined)).toHaveLength(500);
  });

  it('get new names once a plan is outdated, and keep their names after any other error', () => {
    const prepared = new PreparedStatements();
    const before = prepared.nameOf('SELECT $1', [1]);
    expect(prepared.outdatedBy(Object.assign(new Error('x'), { code: '23505' }))).toBe(false);
    expect(prepared.nameOf('SELECT $1', [1])).toBe(before);
    expect(prepared.outdatedBy(Object.assign(new Error('x'), { code: '0A000' }))).toBe(true);
    expect(prepared.nameOf('SELECT $1', [1])).not.toBe(before);
  });
});

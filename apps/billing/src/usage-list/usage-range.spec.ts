import { describe, expect, it } from 'vitest';
import { rangeOf } from './usage-range.js';

const NOW = Date.parse('2026-11-23T08:30:00.000Z');
const DAY_MS = 86_400_000;

const shown = (from: string | null, to: string | null): readonly string[] => {
  const range = rangeOf({ from, to }, NOW);
  return [range.from, range.to].map((day) => new Date(day * DAY_MS).toISOString().slice(0, 10));
};

describe('the range of usage', () => {
  it('is the last 30 days by default, and whole days in UTC', () => {
    expect(shown(null, null)).toEqual(['2026-10-24', '2026-11-24']);
    expect(shown('2026-11-01T10:00:00Z', null)).toEqual(['2026-11-01', '2026-11-24']);
    expect(shown(null, '2026-11-10T00:00:00.000Z')).toEqual(['2026-10-11', '2026-11-10']);
  });

  it('stays at midnight, and reaches the day of its first and its last millisecond', () => {
    expect(shown('2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z')).toEqual(['2026-11-01', '2026-11-02']);
    expect(shown('2026-10-31T23:59:59.999Z', '2026-11-02T00:00:00.001Z')).toEqual([
      '2026-10-31',
      '2026-11-03',
    ]);
    expect(shown('2026-11-01T00:00:00Z', '2026-11-01T00:00:00Z')).toEqual(['2026-11-01', '2026-11-01']);
    expect(shown('2026-11-01T02:00:00+02:00', '2026-11-01T23:00:00-02:00')).toEqual([
      '2026-11-01',
      '2026-11-03',
    ]);
  });

  it('has at most 400 days and is not reversed', () => {
    expect(shown('2025-10-19T00:00:00Z', '2026-11-23T00:00:00Z')).toEqual(['2025-10-19', '2026-11-23']);
    for (const [from, to] of [
      ['2025-10-19T00:00:00Z', '2026-11-23T00:00:00.001Z'],
      ['2025-10-18T23:59:59.999Z', '2026-11-23T00:00:00Z'],
      ['2026-11-02T00:00:00Z', '2026-11-01T23:59:59Z'],
      ['2026-11-24T00:00:00Z', null],
    ] as const)
      expect(() => rangeOf({ from, to }, NOW)).toThrow(
        expect.objectContaining({
          code: 'invalid_request',
          context: { fields: [expect.objectContaining({ path: 'from' })] },
        }),
      );
  });
});

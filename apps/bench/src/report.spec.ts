import { describe, expect, it } from 'vitest';
import { renderSection } from './report.js';
import type { Comparison } from './measure/compare.js';

const growth = (...values: readonly number[]): string =>
  renderSection({
    kind: 'inventory',
    title: 'Growth',
    unit: 'MiB',
    items: values.map((value, index) => ({ name: `process ${index}`, value })),
    aim: 64,
  });

const comparison = (measure: 'rate' | 'time', middle: number, unit: string | null = null): string => {
  const summary = { count: 1, perSecond: 10, p50: 1, p99: 2 };
  const section: Comparison = {
    kind: 'comparison',
    title: 'A comparison',
    measure,
    unit,
    aim: 0.5,
    limits: [{ name: 'bare', middle: summary, ratio: { middle, least: middle, most: middle } }],
    ours: { name: 'ours', middle: summary, ratio: null },
  };
  return renderSection(section);
};

describe('the report', () => {
  it('reports an aim as missed as soon as one item exceeds it', () => {
    expect(growth(3, 64)).toMatch(/aim: at most 64 MiB each: reached$/);
    expect(growth(3, 64.01)).toMatch(/aim: at most 64 MiB each: MISSED$/);
  });

  it('requires a rate to be at least its aim and a time to be at most its aim', () => {
    expect(comparison('rate', 0.6)).toMatch(/at least 0.5 of the first: reached$/);
    expect(comparison('rate', 0.4)).toMatch(/at least 0.5 of the first: MISSED$/);
    expect(comparison('time', 0.4)).toMatch(/at most 0.5 of the first: reached$/);
    expect(comparison('time', 0.6)).toMatch(/at most 0.5 of the first: MISSED$/);
  });

  it('labels a rate with its unit', () => {
    expect(comparison('rate', 1, 'MiB')).toContain('MiB/s');
    expect(comparison('rate', 1)).toContain('per second');
  });

  it('prints every line of the reason why something was not measured', () => {
    const text = 'needs a tool\nInstall it with: apt-get';
    expect(renderSection({ kind: 'note', title: 'Not compared', text })).toBe(
      '\nNot compared\n  needs a tool\n  Install it with: apt-get',
    );
  });
});

import { describe, expect, it } from 'vitest';
import { formatDuration, formatProgress } from './progress-bar.js';

describe('a progress bar', () => {
  it('is never longer than full, also when the log grew meanwhile', () => {
    const text = formatProgress({ applied: 1_100, total: 1_000, eventsPerSecond: 10, secondsLeft: 0 });
    expect(text).toContain(`[${'='.repeat(30)}] 100 %`);
  });

  it('is full for an empty log, and says no time left before the rate is known', () => {
    const text = formatProgress({ applied: 0, total: 0, eventsPerSecond: 0, secondsLeft: null });
    expect(text).toContain('100 %');
    expect(text).not.toContain('left');
  });

  it('is no bar before it is known how much there is', () => {
    expect(formatProgress({ applied: 1_500, total: null, eventsPerSecond: 20, secondsLeft: null })).toBe(
      '1,500 events  20/s',
    );
  });

  it('gives time left in the unit people use', () => {
    expect([0.2, 119, 121, 3_600, 9_000].map(formatDuration)).toEqual([
      '1 s',
      '119 s',
      '2 min',
      '60 min',
      '2 h 30 min',
    ]);
  });
});

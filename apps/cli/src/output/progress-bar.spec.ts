import { describe, expect, it } from 'vitest';
import { formatDuration, formatProgress } from './progress-bar.js';

describe('a progress bar', () => {
  it('never exceeds its full width, even when the log grew in the meantime', () => {
    const text = formatProgress({ applied: 1_100, total: 1_000, eventsPerSecond: 10, secondsLeft: 0 });
    expect(text).toContain(`[${'='.repeat(30)}] 100 %`);
  });

  it('is full for an empty log, and shows no time left until the rate is known', () => {
    const text = formatProgress({ applied: 0, total: 0, eventsPerSecond: 0, secondsLeft: null });
    expect(text).toContain('100 %');
    expect(text).not.toContain('left');
  });

  it('shows no bar until the total is known', () => {
    expect(formatProgress({ applied: 1_500, total: null, eventsPerSecond: 20, secondsLeft: null })).toBe(
      '1,500 events  20/s',
    );
  });

  it('shows the time left in a convenient unit', () => {
    expect([0.2, 119, 121, 3_600, 9_000].map(formatDuration)).toEqual([
      '1 s',
      '119 s',
      '2 min',
      '60 min',
      '2 h 30 min',
    ]);
  });
});

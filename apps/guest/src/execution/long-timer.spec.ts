import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startTimer } from './long-timer.js';

describe('a timer', () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
  afterEach(() => vi.useRealTimers());

  it('fires after its delay, even beyond the limit of the runtime’s timers', () => {
    const fired = vi.fn();
    startTimer(3 * 2 ** 31, fired);
    vi.advanceTimersByTime(3 * 2 ** 31 - 10);
    expect(fired).not.toHaveBeenCalled();
    vi.advanceTimersByTime(20);
    expect(fired).toHaveBeenCalledOnce();
  });

  it.each([1e303, Number.MAX_VALUE])('of %d ms does not fire in a year', (millis) => {
    const fired = vi.fn();
    const stop = startTimer(millis, fired);
    vi.advanceTimersByTime(365 * 86_400_000);
    expect(fired).not.toHaveBeenCalled();
    stop();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('fires after the given fraction of a second, and never after it was cancelled', () => {
    const fired = vi.fn();
    startTimer(0.4, fired);
    startTimer(5, fired)();
    vi.advanceTimersByTime(100);
    expect(fired).toHaveBeenCalledOnce();
  });
});

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Activity, type ActivityView } from './activity.js';

describe('the idle time of an agent', () => {
  const onIdle = vi.fn<() => void>();
  const views: ActivityView[] = [];
  const begin = (seconds: number): Activity =>
    new Activity('start', seconds, { onIdle, onChange: (view) => void views.push(view) });

  beforeEach(() => {
    vi.useFakeTimers();
    onIdle.mockReset();
    views.length = 0;
  });

  afterEach(() => vi.useRealTimers());

  it('ends after that time without activity', () => {
    const activity = begin(15);
    vi.advanceTimersByTime(14_999);
    expect(onIdle).not.toHaveBeenCalled();
    expect(activity.idle).toBe(false);
    vi.advanceTimersByTime(1);
    expect(onIdle).toHaveBeenCalledOnce();
    expect(activity.idle).toBe(true);
  });

  it('does not pass while work is in flight, and restarts after the last of it', async () => {
    const activity = begin(15);
    const [one, two] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const both = [activity.during('chat', () => one.promise), activity.during('chat', () => two.promise)];
    await vi.advanceTimersByTimeAsync(100_000);
    one.resolve();
    await vi.advanceTimersByTimeAsync(100_000);
    expect(onIdle).not.toHaveBeenCalled();
    expect(activity.view.sleepAt).toBeNull();
    two.resolve();
    await Promise.all(both);
    expect(activity.view).toMatchObject({ lastActivityKind: 'chat', sleepAt: Date.now() + 15_000 });
    await vi.advanceTimersByTimeAsync(15_000);
    expect(onIdle).toHaveBeenCalledOnce();
  });

  it.each([3_600_000, -3_600_000])('is the same when the clock of the machine is set by %i ms', (byMs) => {
    const activity = begin(15);
    vi.advanceTimersByTime(5_000);
    vi.setSystemTime(Date.now() + byMs);
    expect(activity.idle).toBe(false);
    vi.advanceTimersByTime(9_999);
    expect(onIdle).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(onIdle).toHaveBeenCalledOnce();
    expect(activity.idle).toBe(true);
  });

  it('never ends for an agent that is always on', () => {
    const activity = begin(0);
    vi.advanceTimersByTime(1e9);
    expect(onIdle).not.toHaveBeenCalled();
    expect(activity.view.sleepAt).toBeNull();
  });

  it('can be changed, which takes effect at once and is no activity', async () => {
    const activity = begin(900);
    const since = Date.now();
    vi.advanceTimersByTime(60_000);
    activity.setIdleTime(100);
    expect(views.at(-1)).toEqual({
      lastActiveAt: since,
      lastActivityKind: 'start',
      sleepAt: since + 100_000,
    });
    vi.advanceTimersByTime(39_999);
    expect(onIdle).not.toHaveBeenCalled();
    activity.setIdleTime(0);
    vi.advanceTimersByTime(1e9);
    expect(onIdle).not.toHaveBeenCalled();
    expect(activity.view.sleepAt).toBeNull();
    const work = Promise.withResolvers<void>();
    const chat = activity.during('chat', () => work.promise);
    activity.setIdleTime(15);
    vi.advanceTimersByTime(100_000);
    expect(onIdle).not.toHaveBeenCalled();
    work.resolve();
    await chat;
    vi.advanceTimersByTime(15_000);
    expect(onIdle).toHaveBeenCalledOnce();
  });

  it('ends at once when it is changed to a time that is over', () => {
    const activity = begin(900);
    vi.advanceTimersByTime(60_000);
    activity.setIdleTime(60);
    vi.advanceTimersByTime(1);
    expect(onIdle).toHaveBeenCalledOnce();
    activity.end();
    const count = views.length;
    activity.setIdleTime(15);
    vi.advanceTimersByTime(100_000);
    expect([onIdle.mock.calls.length, views.length]).toEqual([1, count]);
  });

  it('is no longer measured once the agent is not awake', async () => {
    const activity = begin(15);
    const work = Promise.withResolvers<void>();
    const chat = activity.during('chat', () => work.promise);
    activity.end();
    const count = views.length;
    work.resolve();
    await chat;
    vi.advanceTimersByTime(100_000);
    expect(onIdle).not.toHaveBeenCalled();
    expect(views).toHaveLength(count);
  });
});

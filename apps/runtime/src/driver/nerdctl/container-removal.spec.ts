import { describe, expect, it, vi } from 'vitest';
import { ContainerRemoval } from './container-removal.js';

/** The calls of a removal, each of which the test ends. */
const heldCalls = () => {
  const calls: { readonly ids: readonly string[]; readonly end: () => void }[] = [];
  const removal = new ContainerRemoval((ids) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    calls.push({ ids, end: resolve });
    return promise;
  });
  return { calls, removal };
};

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe('the removal of containers', () => {
  it('takes one call for those of one moment, up to eight', async () => {
    const calls: (readonly string[])[] = [];
    const removal = new ContainerRemoval(async (ids) => void calls.push(ids));
    await Promise.all(['a', 'b', 'c'].map((id) => removal.remove(id).ended));
    await Promise.all([...'abcdefghi'].map((id) => removal.remove(id).ended));
    expect(calls).toEqual([['a', 'b', 'c'], [...'abcdefgh'], ['i']]);
  });

  it('runs at most four calls at a time, and then one for all that wait', async () => {
    const { calls, removal } = heldCalls();
    const removals = [];
    for (const id of 'abcdef') {
      removals.push(removal.remove(id));
      await settled();
    }
    expect(calls.map(({ ids }) => ids)).toEqual([['a'], ['b'], ['c'], ['d']]);
    calls[2]?.end();
    await settled();
    expect(calls[4]?.ids).toEqual(['e', 'f']);
    for (const { end } of calls) end();
    await Promise.all(removals.map(({ ended }) => ended));
  });

  it('tells when the turn of a container has come', async () => {
    const { calls, removal } = heldCalls();
    for (const id of 'abcd') {
      void removal.remove(id);
      await settled();
    }
    let hasBegun = false;
    const last = removal.remove('last');
    void last.begun.then(() => (hasBegun = true));
    await settled();
    expect(hasBegun).toBe(false);
    calls[0]?.end();
    await settled();
    expect(hasBegun).toBe(true);
    for (const { end } of calls) end();
    await removal.ended();
    await last.ended;
  });

  it('keeps nobody waiting for a turn for longer than 10 s, while earlier ones do not end', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { calls, removal } = heldCalls();
      for (const id of 'abcd') {
        void removal.remove(id);
        await settled();
      }
      let isWaiting = true;
      const last = removal.remove('last');
      void last.begun.then(() => (isWaiting = false));
      await vi.advanceTimersByTimeAsync(9_900);
      expect(isWaiting).toBe(true);
      await vi.advanceTimersByTimeAsync(100);
      expect(isWaiting).toBe(false);
      calls[0]?.end();
      await settled();
      expect(calls[4]?.ids).toEqual(['last']);
      for (const { end } of calls) end();
      await last.ended;
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it('that fails for one container succeeds for the others', async () => {
    const removal = new ContainerRemoval(async (ids) => {
      if (ids.includes('bad')) throw new Error(`cannot remove ${ids.join(' ')}`);
    });
    const [good, bad] = await Promise.allSettled(['good', 'bad'].map((id) => removal.remove(id).ended));
    expect(good).toMatchObject({ status: 'fulfilled' });
    expect(bad).toMatchObject({ status: 'rejected', reason: new Error('cannot remove bad') });
  });
});

import { describe, expect, it } from 'vitest';
import { Semaphore } from './semaphore.js';

describe('a semaphore of one', () => {
  it('runs one call after the other, in order, even after a failure', async () => {
    const semaphore = new Semaphore(1);
    const began: number[] = [];
    let working = 0;
    const take = (turn: number): Promise<void> =>
      semaphore.run(async () => {
        expect(++working).toBe(1);
        began.push(turn);
        await new Promise(setImmediate);
        working--;
        if (turn === 1) throw new Error('failed');
      });
    const ended = await Promise.allSettled([0, 1, 2, 3].map(take));
    expect(began).toEqual([0, 1, 2, 3]);
    expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    await take(4);
  });

  it('is left by a caller that gives up while it waits, and goes to the next', async () => {
    const semaphore = new Semaphore(1);
    const held = Promise.withResolvers<void>();
    const holder = semaphore.run(() => held.promise);
    const left = new AbortController();
    const leaver = semaphore.run(() => Promise.reject(new Error('began')), left.signal);
    const next = semaphore.run(async () => 'next');
    left.abort(new Error('left'));
    await expect(leaver).rejects.toThrow('left');
    held.resolve();
    await holder;
    expect(await next).toBe('next');
    await expect(semaphore.run(() => Promise.reject(new Error('began')), left.signal)).rejects.toThrow(
      'left',
    );
    expect(await semaphore.run(async () => 'free')).toBe('free');
  });
});

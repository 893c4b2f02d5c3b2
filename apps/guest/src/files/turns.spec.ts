import { describe, expect, it } from 'vitest';
import { Turns } from './turns.js';

describe('turns', () => {
  it('run one after the other, in the order of the calls, even after a failure', async () => {
    const turns = new Turns(1);
    const began: number[] = [];
    let working = 0;
    const take = (turn: number): Promise<void> =>
      turns.take(async () => {
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
});

import { describe, expect, it } from 'vitest';
import { freePort, reservePort } from './reserve-port.js';

/** Candidates in that order. */
const inOrder = (...ports: readonly number[]) => {
  const left = [...ports];
  return (): Promise<number> => Promise.resolve(left.shift() ?? 0);
};

describe('the port of a program', () => {
  it('is given to no other program while it is reserved, although nothing listens on it yet', async () => {
    const [taken, free] = [await freePort(), await freePort()];
    const first = await reservePort(inOrder(taken));
    const second = await reservePort(inOrder(taken, taken, free));
    expect([first.port, second.port]).toEqual([taken, free]);
    first.release();
    first.release();
    const third = await reservePort(inOrder(taken));
    expect(third.port).toBe(taken);
    for (const { release } of [second, third]) release();
  });
});

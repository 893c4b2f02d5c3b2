import { describe, expect, it } from 'vitest';
import { SendQueue } from './send-queue.js';

const endOfTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a send queue', () => {
  it('sends all of one turn together, in order, at its end', async () => {
    const queue = new SendQueue();
    const sent: number[] = [];
    queue.add(() => sent.push(1));
    await Promise.resolve();
    queue.add(() => sent.push(2));
    expect(sent).toEqual([]);
    await endOfTurn();
    expect(sent).toEqual([1, 2]);
  });

  it('sends messages that were flushed before the end of the turn only once', async () => {
    const queue = new SendQueue();
    const sent: number[] = [];
    queue.add(() => sent.push(1));
    queue.flush();
    await endOfTurn();
    expect(sent).toEqual([1]);
  });

  it('keeps messages added during a flush for the next turn', async () => {
    const queue = new SendQueue();
    const sent: number[] = [];
    queue.add(() => queue.add(() => sent.push(2)));
    queue.flush();
    expect(sent).toEqual([]);
    await endOfTurn();
    expect(sent).toEqual([2]);
  });
});

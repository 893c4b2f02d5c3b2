import { describe, expect, it } from 'vitest';
import { ConversationQueue } from './conversation-queue.js';

describe('the messages of a conversation', () => {
  const never = new AbortController().signal;

  it('are handled in order and one at a time; a failed one does not block the next', async () => {
    const queue = new ConversationQueue();
    const first = Promise.withResolvers<void>();
    const seen: string[] = [];
    const one = queue.run(
      'a',
      async () => {
        seen.push('one begins');
        await first.promise;
        seen.push('one ends');
        throw new Error('one failed');
      },
      never,
    );
    const two = queue.run('a', async () => void seen.push('two'), never);
    const other = queue.run('b', async () => void seen.push('other'), never);
    await other;
    expect(seen).toEqual(['one begins', 'other']);
    first.resolve();
    await expect(one).rejects.toThrow('one failed');
    await two;
    expect(seen).toEqual(['one begins', 'other', 'one ends', 'two']);
  });

  it('are dropped when they time out in the queue, and never handled later', async () => {
    const queue = new ConversationQueue();
    const first = Promise.withResolvers<void>();
    const one = queue.run('a', () => first.promise, never);
    const expiry = new AbortController();
    let handled = false;
    const two = queue.run('a', async () => void (handled = true), expiry.signal);
    expiry.abort(new Error('too late'));
    await expect(two).rejects.toThrow('too late');
    first.resolve();
    await one;
    await queue.run('a', async () => undefined, never);
    expect(handled).toBe(false);
  });
});

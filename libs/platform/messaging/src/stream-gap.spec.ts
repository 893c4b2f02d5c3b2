import type { ConsumerInfo, StoredMsg } from '@nats-io/jetstream';
import { headers } from '@nats-io/transport-node';
import { describe, expect, it } from 'vitest';
import { isGap, lackNote, lackOf } from './stream-gap.js';

const first = (seq: number, position: number, follows?: string): StoredMsg => {
  const header = headers();
  header.set('Berth-Position', String(position));
  if (follows !== undefined) header.set('Berth-Follows', follows);
  return { seq, header } as StoredMsg;
};
const floor = (position: bigint) => ({ position, eventId: 'e' });

describe('a stream lacks events', () => {
  it.each([
    ['is the next one after the floor', first(9, 50, '40'), floor(40n), false],
    ['follows one below the floor', first(9, 50, '30'), floor(40n), false],
    ['is the first of the log', first(9, 50, 'start'), null, false],
    ['is at the floor', first(9, 50, '45'), floor(50n), false],
    ['follows one above the floor', first(9, 50, '41'), floor(40n), true],
    ['follows another, and nothing was handled', first(1, 50, '0'), null, true],
  ])('or not, if its first message %s: $3', (_what, message, handled, expected) => {
    for (const unknown of [false, true]) expect(isGap(message, handled, unknown)).toBe(expected);
  });

  it('as far as it is known of a message that does not say what it follows, unless nothing was removed', () => {
    for (const unknown of [false, true]) {
      expect(isGap(first(9, 50), floor(40n), unknown)).toBe(unknown);
      expect(isGap(first(1, 50), floor(40n), unknown)).toBe(false);
      expect(isGap(first(9, 50), floor(50n), unknown)).toBe(false);
    }
  });
});

describe('the description of a consumer', () => {
  const described = (description?: string) => ({ config: { description } }) as ConsumerInfo;

  it('says after which event it lacks others, or that it lacks all', () => {
    for (const mark of [null, { position: 2n ** 64n - 2n, eventId: crypto.randomUUID() }])
      expect(lackOf(described(lackNote(mark)))).toEqual(mark);
  });

  it.each([undefined, '', 'a consumer', 'lacks events after 5', 'lacks events after x y'])(
    'says nothing of the kind otherwise: %j',
    (text) => {
      expect(lackOf(described(text))).toBeUndefined();
    },
  );
});

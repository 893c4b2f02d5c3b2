import { describe, expect, it } from 'vitest';
import { decideAppend, type StreamFacts } from './append-decision.js';
import { ANY, NO_STREAM, STREAM_EXISTS, TOMBSTONE_REVISION } from './log-event.js';

/** A stream whose events have these ids, of which only `recent` are in memory. */
function stream(
  ids: readonly string[],
  over: Partial<StreamFacts> & { recent?: readonly string[] } = {},
): StreamFacts {
  const recent = over.recent ?? ids;
  return {
    lastRevision: ids.length - 1,
    softDeleted: false,
    hasMetadata: () => false,
    idAt: (revision) => ids[revision],
    recentRevisionOf: (id) => (recent.includes(id) ? ids.indexOf(id) : undefined),
    ...over,
  };
}

const write = { kind: 'write' };
const wrong = { kind: 'wrong-expected-revision' };
const deleted = { kind: 'stream-deleted' };
const idempotent = (lastRevision: number) => ({ kind: 'idempotent', lastRevision });

describe('an append that expects an exact revision', () => {
  it('is written when it is the current revision', () => {
    expect(decideAppend(stream(['a', 'b']), 1, ['c'])).toEqual(write);
    expect(decideAppend(stream([]), NO_STREAM, ['a'])).toEqual(write);
  });

  it('is refused when the stream has not reached it yet', () => {
    expect(decideAppend(stream(['a']), 1, ['b'])).toEqual(wrong);
    expect(decideAppend(stream([]), 0, ['a'])).toEqual(wrong);
  });

  it('is recognised from the index alone when exactly its ids follow that revision', () => {
    const facts = stream(['a', 'b', 'c', 'd'], { recent: [] });
    expect(decideAppend(facts, 0, ['b', 'c'])).toEqual(idempotent(2));
    expect(decideAppend(facts, NO_STREAM, ['a', 'b', 'c', 'd'])).toEqual(idempotent(3));
  });

  it('is refused when the first or a later id differs, or when it continues past the end', () => {
    const facts = stream(['a', 'b', 'c']);
    expect(decideAppend(facts, 0, ['x'])).toEqual(wrong);
    expect(decideAppend(facts, 0, ['b', 'x'])).toEqual(wrong);
    expect(decideAppend(facts, 0, ['b', 'c', 'd'])).toEqual(wrong);
  });

  it('does not compare ids when it expects the current revision', () => {
    expect(decideAppend(stream(['a']), 0, ['a'])).toEqual(write);
  });

  it('is refused when it is empty and expects a past revision', () => {
    expect(decideAppend(stream(['a', 'b']), 0, [])).toEqual(wrong);
    expect(decideAppend(stream(['a', 'b']), 1, [])).toEqual(write);
  });
});

describe('an append that expects any revision', () => {
  it('is recognised while its ids are remembered, and written again afterwards', () => {
    expect(decideAppend(stream(['a', 'b', 'c']), ANY, ['b', 'c'])).toEqual(idempotent(2));
    expect(decideAppend(stream(['a', 'b', 'c'], { recent: [] }), ANY, ['b', 'c'])).toEqual(write);
  });

  it('is refused when known ids are followed by an unknown one', () => {
    expect(decideAppend(stream(['a']), ANY, ['a', 'b'])).toEqual(wrong);
  });

  it('is written when the first id is unknown, regardless of the others', () => {
    expect(decideAppend(stream(['a']), ANY, ['b', 'a'])).toEqual(write);
    expect(decideAppend(stream(['a']), ANY, [])).toEqual(write);
  });
});

describe('an append that expects the stream to exist', () => {
  it('needs an event or metadata', () => {
    expect(decideAppend(stream([]), STREAM_EXISTS, ['a'])).toEqual(wrong);
    expect(decideAppend(stream([], { hasMetadata: () => true }), STREAM_EXISTS, ['a'])).toEqual(write);
    expect(decideAppend(stream(['a']), STREAM_EXISTS, ['b'])).toEqual(write);
    expect(decideAppend(stream(['a']), STREAM_EXISTS, ['a'])).toEqual(idempotent(0));
  });
});

describe('an append to a deleted stream', () => {
  it('reopens a soft-deleted one with no_stream, any or its last revision', () => {
    const facts = stream(['a', 'b'], { softDeleted: true });
    for (const expected of [NO_STREAM, ANY, 1]) expect(decideAppend(facts, expected, ['c'])).toEqual(write);
    expect(decideAppend(facts, 0, ['c'])).toEqual(wrong);
    expect(decideAppend(facts, STREAM_EXISTS, ['c'])).toEqual(deleted);
  });

  it('is recognised as a retry even when the stream was soft-deleted since', () => {
    const facts = stream(['a', 'b'], { softDeleted: true });
    expect(decideAppend(facts, NO_STREAM, ['a', 'b'])).toEqual(idempotent(1));
    expect(decideAppend(facts, NO_STREAM, ['a', 'x'])).toEqual(wrong);
  });

  it('is always refused after a tombstone', () => {
    const facts = stream(['a'], { lastRevision: TOMBSTONE_REVISION });
    for (const expected of [NO_STREAM, ANY, STREAM_EXISTS, 0]) {
      expect(decideAppend(facts, expected, ['a'])).toEqual(deleted);
    }
  });
});

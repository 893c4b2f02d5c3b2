import { describe, expect, it } from 'vitest';
import {
  firstVisibleRevision,
  isSoftDeleted,
  parseStreamMetadata,
  withTruncateBefore,
} from './stream-metadata.js';

const parse = (text: string) => parseStreamMetadata(Buffer.from(text));

describe('stream metadata', () => {
  it('is read with the age in milliseconds', () => {
    expect(parse('{"$maxCount":3,"$maxAge":60,"$tb":7,"owner":"a"}')).toEqual({
      maxCount: 3,
      maxAgeMs: 60_000,
      truncateBefore: 7,
    });
  });

  it.each([
    '',
    'null',
    '[]',
    '"x"',
    '{',
    '{"$maxCount":0}',
    '{"$maxAge":"1"}',
    '{"$tb":-1}',
    '{"$maxCount":1.5}',
  ])('hides nothing when it is invalid: %s', (text) => expect(parse(text)).toEqual({}));

  it('soft-deletes with the largest possible revision, which survives JSON', () => {
    expect(isSoftDeleted(parse('{"$tb":9223372036854775807}'))).toBe(true);
    expect(isSoftDeleted(parseStreamMetadata(withTruncateBefore(undefined, 'everything')))).toBe(true);
    expect(isSoftDeleted(parse('{"$tb":12}'))).toBe(false);
  });

  it('keeps its other fields when $tb is set', () => {
    const before = Buffer.from('{"$maxCount":3,"$tb":9223372036854775807,"owner":"a"}');
    expect(JSON.parse(withTruncateBefore(before, 5).toString())).toEqual({
      $maxCount: 3,
      owner: 'a',
      $tb: 5,
    });
    expect(withTruncateBefore(Buffer.from('{}'), 'everything').toString()).toBe(
      '{"$tb":9223372036854775807}',
    );
  });

  it('shows events from the highest of its limits', () => {
    expect(firstVisibleRevision({}, 9)).toBe(0);
    expect(firstVisibleRevision({ maxCount: 3 }, 9)).toBe(7);
    expect(firstVisibleRevision({ maxCount: 30 }, 9)).toBe(0);
    expect(firstVisibleRevision({ maxCount: 3, truncateBefore: 8 }, 9)).toBe(8);
  });
});

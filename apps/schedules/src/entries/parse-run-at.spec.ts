import { isoTime } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import { parseRunAt } from './parse-run-at.js';

const read = (value: unknown): string | undefined => {
  const millis = parseRunAt(value);
  return millis === undefined ? undefined : isoTime(millis);
};

describe('a nextRunAt', () => {
  it.each([
    ['2030-01-01T00:00:00Z', '2030-01-01T00:00:00.000Z'],
    ['2030-01-01T00:00:00.123456Z', '2030-01-01T00:00:00.123Z'],
    ['2030-01-01T00:00:00,5Z', '2030-01-01T00:00:00.500Z'],
    ['2030-01-01T02:00:00+02:00', '2030-01-01T00:00:00.000Z'],
    ['2030-01-01T02:00+0200', '2030-01-01T00:00:00.000Z'],
    ['2029-12-31T24:00:00Z', '2030-01-01T00:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('%s is %s', (value, expected) => expect(read(value)).toBe(expected));

  it.each([
    '2030-01-01',
    '2030-01-01T00:00:00',
    '2030-01-01 00:00:00Z',
    '2030-02-30T00:00:00Z',
    '2030-01-01T25:00:00Z',
    '2030-01-01T23:59:60Z',
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59-01:00',
    '+012030-01-01T00:00:00Z',
    '',
    1_900_000_000_000,
    null,
  ])('is not %j', (value) => expect(parseRunAt(value)).toBeUndefined());
});

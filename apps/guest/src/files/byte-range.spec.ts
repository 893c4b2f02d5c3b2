import { describe, expect, it } from 'vitest';
import { parseRange } from './byte-range.js';

describe('a range of bytes', () => {
  it.each([
    [undefined, 10, 'all'],
    ['', 10, 'all'],
    ['bytes=0-0', 10, { start: 0, end: 0 }],
    ['Bytes= 2-5 ', 10, { start: 2, end: 5 }],
    ['bytes=9-', 10, { start: 9, end: 9 }],
    ['bytes=10-', 10, 'unsatisfiable'],
    ['bytes=5-100', 10, { start: 5, end: 9 }],
    ['bytes=-1', 10, { start: 9, end: 9 }],
    ['bytes=-10', 10, { start: 0, end: 9 }],
    ['bytes=-0', 10, 'unsatisfiable'],
    ['bytes=0-', 0, 'unsatisfiable'],
    ['bytes=-5', 0, 'unsatisfiable'],
    ['bytes=5-4', 10, 'all'],
    ['bytes=12-11', 10, 'all'],
    ['bytes=1-2,4-5', 10, 'all'],
    ['bytes=a-b', 10, 'all'],
    ['bytes=1.5-2', 10, 'all'],
    ['items=0-1', 10, 'all'],
    [`bytes=${'9'.repeat(400)}-`, 10, 'unsatisfiable'],
    [`bytes=0-${'9'.repeat(400)}`, 10, { start: 0, end: 9 }],
  ] as const)('%j of %i bytes is %j', (header, size, range) => {
    expect(parseRange(header, size)).toEqual(range);
  });
});

import { describe, expect, it } from 'vitest';
import { roomiest } from './placement.js';

const hosts = [
  { host: 'a', freeMemMb: 1_000 },
  { host: 'b', freeMemMb: 1_500 },
];

describe('the host of a new agent', () => {
  it('has the most memory free', () => expect(roomiest(hosts, new Map())).toBe('b'));

  it('is judged by what is left beside the agents placed there that it has not reported yet', () =>
    expect(roomiest(hosts, new Map([['b', 501]]))).toBe('a'));

  it('may have less than was placed there, when all have', () =>
    expect(
      roomiest(
        hosts,
        new Map([
          ['a', 2_000],
          ['b', 2_000],
        ]),
      ),
    ).toBe('b'));

  it('is none without hosts', () => expect(roomiest([], new Map())).toBeNull());
});

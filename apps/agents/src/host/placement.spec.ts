import { describe, expect, it } from 'vitest';
import { hostWithMostMemory } from './placement.js';

const hosts = [
  { host: 'a', freeMemMb: 1_000 },
  { host: 'b', freeMemMb: 1_500 },
];

describe('the host of a new agent', () => {
  it('has the most free memory', () => expect(hostWithMostMemory(hosts, new Map())).toBe('b'));

  it('is chosen by its free memory less the agents placed there that it has not reported yet', () =>
    expect(hostWithMostMemory(hosts, new Map([['b', 501]]))).toBe('a'));

  it('may be overcommitted when all hosts are', () =>
    expect(
      hostWithMostMemory(
        hosts,
        new Map([
          ['a', 2_000],
          ['b', 2_000],
        ]),
      ),
    ).toBe('b'));

  it('is null without hosts', () => expect(hostWithMostMemory([], new Map())).toBeNull());
});

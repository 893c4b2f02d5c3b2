import { describe, expect, it } from 'vitest';
import { fits, hostWithMostMemory } from './placement.js';

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

describe('a host fits an agent', () => {
  const figures = {
    name: 'one',
    driver: 'nerdctl',
    version: '1.0.0',
    memMb: { total: 2_000, free: 1_000 },
    diskGb: { total: 20, free: 10 },
    limitsDisk: true,
    runtimeClasses: [],
  };

  it('if it has the memory that the agent may use', () => {
    expect(fits({ freeMemMb: 1_000, figures: null }, { memMb: 1_000, diskGb: 1, desktops: false })).toBe(
      true,
    );
    expect(fits({ freeMemMb: 1_000, figures: null }, { memMb: 1_001, diskGb: 1, desktops: false })).toBe(
      false,
    );
  });

  it('if it has the disk that the agent may use, and has not promised too much, where the size of a volume is enforced', () => {
    expect(fits({ freeMemMb: 1_000, figures }, { memMb: 1_000, diskGb: 10, desktops: false })).toBe(true);
    expect(fits({ freeMemMb: 1_000, figures }, { memMb: 1_000, diskGb: 11, desktops: false })).toBe(false);
    const overcommitted = { ...figures, grantableDiskGb: 2 };
    expect(
      fits({ freeMemMb: 1_000, figures: overcommitted }, { memMb: 1_000, diskGb: 2, desktops: false }),
    ).toBe(true);
    expect(
      fits({ freeMemMb: 1_000, figures: overcommitted }, { memMb: 1_000, diskGb: 3, desktops: false }),
    ).toBe(false);
    const advisory = { ...figures, limitsDisk: false };
    expect(fits({ freeMemMb: 1_000, figures: advisory }, { memMb: 1_000, diskGb: 11, desktops: false })).toBe(
      true,
    );
  });

  it('for a computer only if it has desktops, which hosts of earlier versions do not say', () => {
    const needs = { memMb: 1_000, diskGb: 1, desktops: true };
    expect(fits({ freeMemMb: 1_000, figures: { ...figures, desktops: true } }, needs)).toBe(true);
    expect(fits({ freeMemMb: 1_000, figures: { ...figures, desktops: false } }, needs)).toBe(false);
    expect(fits({ freeMemMb: 1_000, figures }, needs)).toBe(false);
    expect(fits({ freeMemMb: 1_000, figures: null }, needs)).toBe(false);
  });
});

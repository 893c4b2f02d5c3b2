import type { Stats } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { mayRead, maySearch } from './permission.js';

const READER = { uid: 1_000, gid: 2_000 };
const stats = (mode: number, uid: number, gid: number): Stats =>
  ({ mode: 0o100000 | mode, uid, gid }) as Stats;

describe('the permission', () => {
  it.each([
    [0o400, 1_000, 0, true],
    [0o077, 1_000, 2_000, false],
    [0o040, 0, 2_000, true],
    [0o707, 0, 2_000, false],
    [0o004, 0, 0, true],
    [0o770, 0, 0, false],
    [0o333, 1_000, 2_000, false],
  ])('to read mode %o, user %i, group %i: %s', (mode, uid, gid, may) => {
    expect(mayRead(stats(mode, uid, gid), READER)).toBe(may);
  });

  it.each([
    [0o100, 1_000, 0, true],
    [0o677, 1_000, 0, false],
    [0o010, 0, 2_000, true],
    [0o001, 0, 0, true],
    [0o776, 0, 0, false],
  ])('to search mode %o, user %i, group %i: %s', (mode, uid, gid, may) => {
    expect(maySearch(stats(mode, uid, gid), READER)).toBe(may);
  });

  it('is always given to root, and left to the kernel for an unspecified user', () => {
    for (const reader of [{ uid: 0, gid: 0 }, null]) {
      expect(mayRead(stats(0, 5, 5), reader) && maySearch(stats(0, 5, 5), reader)).toBe(true);
    }
  });

  it('of root inside depends on the mode for files of the guest, whose user root inside has no power over', () => {
    const root = { uid: 0, gid: 0 };
    const guest = 65_533;
    expect(mayRead(stats(0o600, guest, guest), root, guest)).toBe(false);
    expect(maySearch(stats(0o700, guest, guest), root, guest)).toBe(false);
    expect(mayRead(stats(0o644, guest, guest), root, guest)).toBe(true);
    expect(mayRead(stats(0, 5, 5), root, guest)).toBe(true);
  });
});

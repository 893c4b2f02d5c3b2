import { describe, expect, it } from 'vitest';
import { SpareKeys } from './spare-keys.js';

const NONE = new Set<number>();

describe('spare keycodes', () => {
  it('enter a keysym with the same keycode again', () => {
    const keys = new SpareKeys();
    expect([keys.assign(1, [100, 101], NONE), keys.find(1), keys.find(2)]).toEqual([100, 100, undefined]);
  });

  it('get another keysym only when all programs have read what was entered, the longest unused first', () => {
    const keys = new SpareKeys();
    keys.assign(1, [100, 101], NONE);
    keys.assign(2, [100, 101], NONE);
    expect(keys.assign(3, [100, 101], NONE)).toBeUndefined();
    keys.allRead();
    keys.find(1);
    expect([keys.assign(3, [100, 101], NONE), keys.find(2)]).toEqual([101, undefined]);
    expect(keys.assign(4, [100, 101], NONE)).toBeUndefined();
  });

  it('keep their keysym while they are held', () => {
    const keys = new SpareKeys();
    keys.assign(1, [100], NONE);
    keys.allRead();
    expect(keys.assign(2, [100], new Set([100]))).toBeUndefined();
  });
});

import { describe, expect, it } from 'vitest';
import { parseRefs } from './refs.js';
import { TreeSize } from './tree-size.js';

const ID = 'a'.repeat(40);

describe('the references of a repository', () => {
  it('name the default branch', () => {
    expect(parseRefs(`ref: refs/heads/trunk/1\tHEAD\n${ID}\tHEAD\n`)).toEqual({
      head: 'trunk/1',
      branches: [],
    });
  });

  it('have no default branch without a commit', () => {
    expect(parseRefs('ref: refs/heads/main\tHEAD\n').head).toBeUndefined();
    expect(parseRefs('').head).toBeUndefined();
  });

  it('name branches, and no tags', () => {
    expect(parseRefs(`${ID}\trefs/heads/main\n${ID}\trefs/tags/main\n`).branches).toEqual(['main']);
  });
});

describe('the size of a tree', () => {
  it('is the sum of its files, however the list is split into chunks', () => {
    const list = Buffer.from(`100644 blob ${ID}    3000\ta b\u0000100644 blob ${ID}    2000\tc\u0000`);
    for (let at = 0; at <= list.length; at++) {
      const [fits, exceeds] = [new TreeSize(5_000), new TreeSize(4_999)];
      for (const size of [fits, exceeds]) {
        size.add(list.subarray(0, at));
        size.add(list.subarray(at));
      }
      expect([fits.isTooLarge, exceeds.isTooLarge]).toEqual([false, true]);
    }
  });

  it('counts a kilobyte for everything smaller, submodules too', () => {
    const size = new TreeSize(2_047);
    size.add(Buffer.from(`100644 blob ${ID}       0\ta\u0000160000 commit ${ID}       -\tb\u0000`));
    expect(size.isTooLarge).toBe(true);
  });

  it('counts a block for every folder', () => {
    const size = new TreeSize(2 * 4_096 - 1);
    const folder = (path: string): Buffer => Buffer.from(`040000 tree ${ID}       -\t${path}\u0000`);
    size.add(folder('a'));
    expect(size.isTooLarge).toBe(false);
    size.add(folder('a/b'));
    expect(size.isTooLarge).toBe(true);
  });

  it('limits all paths together, and each of them', () => {
    const file = (path: string): Buffer => Buffer.from(`100644 blob ${ID}       1\t${path}\u0000`);
    const paths = new TreeSize(Infinity);
    for (let n = 0; n < 16 * 1_024; n++) paths.add(file('p'.repeat(4_096)));
    expect(paths.isTooLarge).toBe(false);
    paths.add(file('p'));
    expect(paths.isTooLarge).toBe(true);
    const [whole, unfinished] = [new TreeSize(Infinity), new TreeSize(Infinity)];
    whole.add(file('p'.repeat(5_000)));
    unfinished.add(file('p'.repeat(5_000)).subarray(0, 5_000));
    expect([whole.isTooLarge, unfinished.isTooLarge]).toEqual([true, true]);
  });
});

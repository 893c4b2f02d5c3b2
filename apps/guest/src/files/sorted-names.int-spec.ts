import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { holdFolder, reopen } from './descriptor.js';
import { fromKey, SortedNames } from './sorted-names.js';

describe('the sorted names of a folder', () => {
  let path: string;
  const { signal } = new AbortController();

  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'berth-names-'));
  });

  afterEach(() => rmSync(path, { recursive: true }));

  const batches = async (batchBytes?: number): Promise<readonly (readonly string[])[]> => {
    using held = holdFolder(path);
    using folder = reopen(held);
    const names = new SortedNames(folder, batchBytes);
    const found: (readonly string[])[] = [];
    while (!names.isComplete) found.push(await names.next(signal));
    return found;
  };

  it('come in batches of the given size, each after the last, and each name once', async () => {
    const names = Array.from({ length: 3_000 }, (_, index) =>
      `${(index * 7_919) % 3_000}`.padStart(100, 'x'),
    );
    for (const name of names) writeFileSync(join(path, name), '');
    const found = await batches(20_000);
    expect(found.length).toBeGreaterThan(20);
    for (const batch of found) expect(batch.join('').length).toBeLessThanOrEqual(20_000);
    expect(found.flat()).toEqual(names.toSorted());
    expect(await batches()).toEqual([names.toSorted()]);
  });

  it('are in the order of their code points, and those that are shown alike by their bytes, whatever the batch', async () => {
    const names = ['B', 'a', 'b', 'bad-\uFFFD', 'bad-\uFFFD', 'bad-\uFFFDa', 'ä', '\uFF5E', '\u{1F600}'];
    for (const name of names.filter((one) => !one.startsWith('bad'))) writeFileSync(join(path, name), '');
    const bad = [[0xff], [0xfe], [0xf5, 0x61]].map((end) => Buffer.from([...Buffer.from('bad-'), ...end]));
    for (const name of bad) writeFileSync(Buffer.concat([Buffer.from(`${path}/`), name]), '');
    for (const size of [1, 150, 100_000]) {
      const found = (await batches(size)).flat().map(fromKey);
      expect(found.map(({ name }) => name)).toEqual(names);
      expect(found.slice(3, 6).map(({ bytes }) => bytes)).toEqual([bad[1], bad[0], bad[2]]);
    }
  });

  it('of an empty folder are one empty batch', async () => {
    expect(await batches()).toEqual([[]]);
  });
});

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CUT_MARK, KEPT_CHARACTERS } from '@berth/guest-protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CAN_MOUNT } from '../files/__fixtures__/files.fixture.js';
import { OutputRings } from './output-rings.js';
import { OutputTail } from './output-tail.js';

const MB = 1024 * 1024;

describe('the output of many executions', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'berth-rings-'));
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const written = (rings: OutputRings, end: string): OutputTail => {
    const tail = new OutputTail(rings);
    const chunk = Buffer.alloc(50_000, end);
    for (let time = 0; time < 30; time++) tail.push(chunk);
    tail.push(Buffer.from(end));
    return tail;
  };
  const shown = (end: string): string =>
    CUT_MARK + `${end.repeat(KEPT_CHARACTERS)}${end}`.slice(-KEPT_CHARACTERS);

  it('takes a bounded amount of memory, the rest is in files without a name, and none of it is lost', () => {
    const before = process.memoryUsage().arrayBuffers;
    const rings = new OutputRings(folder, 8 * MB);
    const ends = Array.from({ length: 40 }, (_, index) => String.fromCodePoint(65 + index));
    const tails = ends.map((end) => written(rings, end));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(12 * MB);
    expect(readdirSync(folder)).toEqual([]);
    // Compare outside `expect`, which would take minutes to print a difference.
    expect(tails.map((tail, index) => tail.text() === shown(ends[index] ?? ''))).toEqual(
      ends.map(() => true),
    );
    for (const tail of tails) tail.release();
  });

  it('uses the memory again that ended executions have freed', () => {
    const rings = new OutputRings(folder, 3 * MB);
    for (let index = 0; index < 5; index++) written(rings, 'x').release();
    rmSync(folder, { recursive: true });
    mkdirSync(folder);
    const before = process.memoryUsage().arrayBuffers;
    const tail = written(rings, 'y');
    expect(process.memoryUsage().arrayBuffers - before).toBeGreaterThan(MB);
    expect(tail.text() === shown('y')).toBe(true);
  });

  it('is complete in memory if there is no room for files', () => {
    if (CAN_MOUNT) execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'berth', folder]);
    else rmSync(folder, { recursive: true });
    try {
      const tail = written(new OutputRings(folder, 0), 'z');
      expect(tail.text() === shown('z')).toBe(true);
      tail.release();
    } finally {
      if (CAN_MOUNT) execFileSync('umount', [folder]);
    }
  });
});

import { mkdirSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { temporaryDataDir } from '../embedded-bench.fixture.js';
import { BoundedLog } from './bounded-log.js';

const folder = temporaryDataDir();
afterEach(() => folder.remove());

it('a log never exceeds two files of its limit, and stays writable', () => {
  mkdirSync(folder.dataDir, { recursive: true });
  const path = join(folder.dataDir, 'part.log');
  const log = new BoundedLog(path, 1000);
  for (let line = 0; line < 100; line += 1) {
    writeSync(log.fd, `line ${line} ${'x'.repeat(50)}\n`);
    log.trim();
  }
  expect(statSync(path).size).toBeLessThanOrEqual(1000);
  expect(statSync(`${path}.1`).size).toBeLessThanOrEqual(1100);
  writeSync(log.fd, 'the last line\n');
  expect(log.tail()).toMatch(/the last line$/);
  log.close();
});

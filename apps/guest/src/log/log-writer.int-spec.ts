import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeLogLine, logFileName } from '@berth/guest-protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LogWriter } from './log-writer.js';

describe('the log of an agent', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'berth-log-'));
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const messages = (): string[] =>
    readdirSync(folder)
      .toSorted()
      .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
      .flatMap((line) => decodeLogLine(line)?.message ?? []);

  it('uses at most three files of the given size and keeps the newest lines', async () => {
    const log = new LogWriter(folder, 10_000);
    for (let n = 0; n < 1_000; n++) {
      log.add('agent', 'info', `line ${n}`);
      if (n % 20 === 0) await log.flush();
    }
    await log.close();
    const names = readdirSync(folder);
    expect(names).toHaveLength(3);
    for (const name of names) expect(statSync(join(folder, name)).size).toBeLessThanOrEqual(10_000);
    const kept = messages();
    expect(kept.at(-1)).toBe('line 999');
    expect(kept).toEqual(Array.from({ length: kept.length }, (_, n) => `line ${1_000 - kept.length + n}`));
  });

  it('continues where an earlier guest stopped', async () => {
    for (const message of ['one', 'two']) {
      const log = new LogWriter(folder);
      log.add('system', 'info', message);
      await log.close();
    }
    expect(messages()).toEqual(['one', 'two']);
    expect(readdirSync(folder)).toHaveLength(1);
  });

  it('counts what the host has added to its file', async () => {
    const log = new LogWriter(folder, 10_000);
    log.add('agent', 'info', 'first');
    await log.flush();
    const [name = ''] = readdirSync(folder);
    appendFileSync(join(folder, name), `${'x'.repeat(9_950)}\n`);
    const size = statSync(join(folder, name)).size;
    log.add('agent', 'info', 'second');
    await log.close();
    expect(statSync(join(folder, name)).size).toBe(size);
    expect(messages()).toEqual(['first', 'second']);
    expect(readdirSync(folder)).toHaveLength(2);
  });

  it('continues in the file that the host has rotated to', async () => {
    const log = new LogWriter(folder);
    log.add('agent', 'info', 'first');
    await log.flush();
    const rotated = join(folder, logFileName(2));
    writeFileSync(rotated, '');
    log.add('agent', 'info', 'second');
    await log.close();
    expect(decodeLogLine(readFileSync(rotated, 'utf8'))?.message).toBe('second');
  });

  it('is readable by its owner only, and tolerates a missing folder', async () => {
    const log = new LogWriter(folder);
    log.add('system', 'info', 'one');
    await log.flush();
    expect(statSync(join(folder, readdirSync(folder)[0] ?? '')).mode & 0o777).toBe(0o600);
    const lost = new LogWriter(join(folder, 'nowhere'));
    lost.add('system', 'info', 'one');
    await lost.close();
    await log.close();
  });
});

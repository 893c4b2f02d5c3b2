import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXECUTIONS_FOLDER, type ExecutionRecord } from '@berth/guest-protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ExecutionJournal } from './execution-journal.js';
import { newRecord } from './running-execution.js';

const bounds = { entries: 10, keepMs: 3_600_000, bytes: 100_000 };

const ended = (executionId: string, stdout = ''): ExecutionRecord => ({
  ...newRecord(executionId),
  status: 'completed',
  exitCode: 0,
  stdout,
  endedAt: new Date().toISOString(),
});

describe('the journal of executions', () => {
  let dir: string;

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'berth-executions-'));
  });

  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  const open = (changes: Partial<typeof bounds> = {}): ExecutionJournal =>
    ExecutionJournal.open(dir, { ...bounds, ...changes }).journal;
  const files = (): string[] => readdirSync(join(dir, EXECUTIONS_FOLDER)).toSorted();

  it('keeps the newest finished executions, and every running one', () => {
    let journal = open();
    journal.begin(newRecord('exe_running'));
    for (let n = 0; n < 25; n += 1) journal.end(ended(`exe_${n}`));
    expect(journal.find('exe_14')).toBeUndefined();
    expect(journal.find('exe_15')).toMatchObject({ status: 'completed' });
    expect(files()).toHaveLength(11);
    const opened = ExecutionJournal.open(dir, bounds);
    ({ journal } = opened);
    expect(opened.interrupted).toEqual(['exe_running']);
    expect(journal.find('exe_running')).toMatchObject({ status: 'failed', exitCode: -1 });
    expect(files()).toHaveLength(10);
  });

  it('limits its size in bytes, but always keeps the newest execution', () => {
    const journal = open();
    for (let n = 0; n < 5; n += 1) journal.end(ended(`exe_${n}`, 'x'.repeat(40_000)));
    expect(files()).toEqual(['exe_3.json', 'exe_4.json']);
    journal.end(ended('exe_5', 'x'.repeat(200_000)));
    expect(files()).toEqual(['exe_5.json']);
  });

  it('forgets executions after a day', () => {
    const journal = open();
    journal.end(ended('exe_old'));
    const longAgo = Date.now() / 1_000 - 7_200;
    utimesSync(join(dir, EXECUTIONS_FOLDER, 'exe_old.json'), longAgo, longAgo);
    const later = open();
    expect(later.find('exe_old')).toBeUndefined();
    later.end(ended('exe_new'));
    expect(files()).toEqual(['exe_new.json']);
  });

  it('is readable by its owner only', () => {
    open().end(ended('exe_1', 'secret'));
    expect(statSync(join(dir, EXECUTIONS_FOLDER)).mode & 0o777).toBe(0o700);
    expect(statSync(join(dir, EXECUTIONS_FOLDER, 'exe_1.json')).mode & 0o777).toBe(0o600);
  });

  it('limits the share of time spent on intermediate writes', () => {
    const journal = open();
    const slow = (): ExecutionRecord => {
      const until = performance.now() + 30;
      while (performance.now() < until);
      return newRecord('exe_1');
    };
    expect(journal.update(slow)).toBe(true);
    expect(journal.update(slow)).toBe(false);
  });
});

import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { LogsPage, ReadLogs } from '@berth/contracts/runtime';
import { encodeLogLine, logFileName, type LogLine } from '@berth/guest-protocol';
import { eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agentFolders } from '../agent/agent-folders.js';
import { AgentLogs } from './agent-logs.js';
import { SystemLog } from './system-log.js';

/** Calls by which this process has read so far, see proc(5). */
const reads = (): number => Number(/^syscr: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);

describe('the logs of an agent', () => {
  const agentId = 'agt_1';
  let dataDir: string;
  let logs: AgentLogs;
  /** Removes an agent as its host does. */
  let remove: (agentId: string) => Promise<void>;
  /** The agents for whose entries a read waits, or is about to. */
  const waitedFor = new Set<string>();

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'berth-logs-'));
    mkdirSync(agentFolders(dataDir, agentId).logs, { recursive: true });
    waitedFor.clear();
    const leaving = new Set<string>();
    logs = new AgentLogs(
      { dataDir },
      {
        beforeRemoval: (work) => {
          remove = (id) => work(leaving.add(id) && id);
        },
        isLeaving: (id) => waitedFor.add(id) && leaving.has(id),
      },
    );
  });

  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  const append = (file: number, text: string): void =>
    appendFileSync(join(agentFolders(dataDir, agentId).logs, logFileName(file)), text);

  const write = (file: number, message: string, changes: Partial<LogLine> = {}): void =>
    append(
      file,
      encodeLogLine({
        timestamp: '2026-11-21T10:00:00.000Z',
        level: 'info',
        source: 'agent',
        message,
        ...changes,
      }),
    );

  const read = (changes: Partial<ReadLogs> = {}): Promise<LogsPage> =>
    logs.read({
      agentId,
      limit: 100,
      level: null,
      since: null,
      source: null,
      cursor: null,
      waitMs: 0,
      ...changes,
    });

  const messages = async (changes: Partial<ReadLogs> = {}): Promise<string[]> =>
    (await read(changes)).logs.map(({ message }) => message);

  it('return the newest entries, oldest first, across files', async () => {
    for (let n = 1; n <= 6; n++) write(Math.ceil(n / 2), `m${n}`);
    expect(await messages({ limit: 4 })).toEqual(['m3', 'm4', 'm5', 'm6']);
  });

  it('are empty when there are none yet', async () => {
    expect((await logs.read({ ...(await query()), agentId: 'agt_unknown' })).logs).toEqual([]);
  });

  const query = async (): Promise<ReadLogs> => ({
    agentId,
    limit: 100,
    level: null,
    since: null,
    source: null,
    cursor: null,
    waitMs: 0,
  });

  it('are filtered by minimum level, source and time before the limit applies', async () => {
    write(1, 'old error', { level: 'error', timestamp: '2026-11-21T09:00:00.000Z' });
    write(1, 'debug', { level: 'debug' });
    write(1, 'warn', { level: 'warn' });
    write(1, 'error of the system', { level: 'error', source: 'system' });
    write(1, 'info');
    expect(await messages({ level: 'warn' })).toEqual(['old error', 'warn', 'error of the system']);
    expect(await messages({ level: 'warn', limit: 1 })).toEqual(['error of the system']);
    expect(await messages({ source: 'system' })).toEqual(['error of the system']);
    expect(await messages({ since: '2026-11-21T10:00:00Z', level: 'error' })).toEqual([
      'error of the system',
    ]);
  });

  it('continue after a cursor without gaps or duplicates, across new and deleted files', async () => {
    write(1, 'a');
    const first = await read();
    write(1, 'b');
    write(2, 'c');
    write(3, 'd');
    const second = await read({ cursor: first.nextCursor, limit: 2 });
    expect(second.logs.map(({ message }) => message)).toEqual(['b', 'c']);
    rmSync(join(agentFolders(dataDir, agentId).logs, logFileName(2)));
    const third = await read({ cursor: second.nextCursor });
    expect(third.logs.map(({ message }) => message)).toEqual(['d']);
    expect((await read({ cursor: third.nextCursor })).logs).toEqual([]);
  });

  it('omit a line until it is complete, and torn lines permanently', async () => {
    write(1, 'a');
    append(1, 'rubbish\n{"timestamp":"2026-11-21T10:00:00.000Z","level":"info",');
    const first = await read();
    expect(first.logs).toHaveLength(1);
    append(1, '"source":"agent","message":"late"}\n');
    expect(await messages({ cursor: first.nextCursor })).toEqual(['late']);
  });

  it('wait for a new entry as long as requested', async () => {
    write(1, 'a');
    const { nextCursor } = await read();
    const waiting = messages({ cursor: nextCursor, waitMs: 2_000 });
    write(1, 'b');
    expect(await waiting).toEqual(['b']);
    const end = (await read()).nextCursor;
    const begunAt = performance.now();
    expect(await messages({ cursor: end, waitMs: 300 })).toEqual([]);
    expect(performance.now() - begunAt).toBeGreaterThanOrEqual(295);
  });

  it('wake their readers soon, with one watch for all, and stop watching without readers', async () => {
    write(1, 'a');
    const { nextCursor } = await read();
    const waiting = Promise.all(
      Array.from({ length: 20 }, () => messages({ cursor: nextCursor, waitMs: 10_000 })),
    );
    await eventually(() => logs.watched === 1);
    const writtenAt = performance.now();
    write(1, 'b');
    expect(await waiting).toEqual(Array.from({ length: 20 }, () => ['b']));
    expect(performance.now() - writtenAt).toBeLessThan(2_000);
    expect(logs.watched).toBe(0);
  });

  it('cause no work without new entries, however many readers wait', async () => {
    write(1, 'a');
    const { nextCursor } = await read();
    const waiting = Array.from({ length: 200 }, () => messages({ cursor: nextCursor, waitMs: 10_000 }));
    // Longer than the initial reads.
    await delay(800);
    const before = reads();
    await delay(1_000);
    const during = reads() - before;
    logs.close();
    await Promise.all(waiting);
    expect(during).toBeLessThan(waiting.length);
  });

  it('can be followed before they exist', async () => {
    const cursor = (await read()).nextCursor;
    rmSync(agentFolders(dataDir, agentId).logs, { recursive: true });
    const waiting = messages({ cursor, waitMs: 10_000 });
    await eventually(() => logs.watched === 1);
    mkdirSync(agentFolders(dataDir, agentId).logs, { recursive: true });
    write(1, 'first');
    expect(await waiting).toEqual(['first']);
  });

  it('end the waits for an agent that is removed, and no others', async () => {
    write(1, 'a');
    const { nextCursor } = await read();
    const waiting = messages({ cursor: nextCursor, waitMs: 10_000 });
    const other = messages({ agentId: 'agt_2', cursor: nextCursor, waitMs: 10_000 });
    let otherWaits = true;
    void other.then(() => (otherWaits = false));
    await eventually(() => waitedFor.size === 2);
    const removedAt = performance.now();
    await remove(agentId);
    expect(await waiting).toEqual([]);
    expect(await messages({ cursor: nextCursor, waitMs: 10_000 })).toEqual([]);
    expect(performance.now() - removedAt).toBeLessThan(2_000);
    expect(otherWaits).toBe(true);
    logs.close();
    await other;
  });

  it('end every wait once the host stops', async () => {
    write(1, 'a');
    const { nextCursor } = await read();
    const waiting = messages({ cursor: nextCursor, waitMs: 10_000 });
    await eventually(() => logs.watched === 1);
    const closedAt = performance.now();
    logs.close();
    expect(await waiting).toEqual([]);
    expect(await messages({ cursor: nextCursor, waitMs: 10_000 })).toEqual([]);
    expect(performance.now() - closedAt).toBeLessThan(2_000);
  });

  it('return as many of the newest entries as requested, up to 4 MiB, and smaller pages after a cursor', async () => {
    const bytesOf = (page: LogsPage): number => Buffer.byteLength(JSON.stringify(page));
    for (let n = 0; n < 200; n++) write(1, `${n} ${'\u0001'.repeat(8_000)}`);
    const newest = await read({ limit: 1_000 });
    expect(newest.logs.length).toBeGreaterThan(80);
    expect(bytesOf(newest)).toBeLessThan(4.1 * 1024 * 1024);
    expect(newest.logs.at(-1)?.message).toMatch(/^199 /);
    expect((await read({ limit: 70 })).logs).toHaveLength(70);
    const seen: string[] = [];
    let cursor: string | null = Buffer.from('1:0').toString('base64url');
    while (seen.length < 200) {
      const page: LogsPage = await read({ cursor, limit: 1_000 });
      expect(page.logs.length).toBeGreaterThan(0);
      expect(bytesOf(page)).toBeLessThan(720 * 1024);
      seen.push(...page.logs.map(({ message }) => message.split(' ')[0] ?? ''));
      cursor = page.nextCursor;
    }
    expect(seen).toEqual(Array.from({ length: 200 }, (_, n) => String(n)));
  });

  it('are neither read nor written through a link that stands in place of a file, nor wait for a pipe', async () => {
    const folder = agentFolders(dataDir, agentId).logs;
    const other = join(dataDir, 'of-another-agent');
    write(1, 'of another agent');
    renameSync(join(folder, logFileName(1)), other);
    const before = readFileSync(other, 'utf8');
    symlinkSync(other, join(folder, logFileName(1)));
    await new SystemLog({ dataDir }).add(agentId, 'info', 'of the host');
    expect(readFileSync(other, 'utf8')).toBe(before);
    expect(await messages()).toEqual([]);
    rmSync(join(folder, logFileName(1)));
    execFileSync('mkfifo', [join(folder, logFileName(1))]);
    await new SystemLog({ dataDir }).add(agentId, 'info', 'of the host');
    expect(await messages()).toEqual([]);
  });

  it('reject a cursor that they did not issue', async () => {
    await expect(read({ cursor: 'bm9uc2Vuc2U' })).rejects.toMatchObject({
      kind: 'invalid',
      code: 'invalid_request',
    });
  });
});

import { EventStreams, connectEventStore, ProjectionRunner, type EventStore } from '@berth/event-store';
import { newId } from '@berth/kernel';
import { openDatabase, type Database } from '@berth/persistence';
import { Supervisor } from '@berth/supervision';
import { createLogger } from '@berth/telemetry';
import { startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { executionDecider, type ExecutionCommand } from '../execution/execution.decider.js';
import { executionCodec } from '../execution/execution.events.js';
import type { ExecutionStreams } from '../execution/execution.streams.js';
import { aCommand, aSubmission } from '../fixtures/exec.fixture.js';
import { createExecTables } from '../migrations/2026-11-21-exec.js';
import { executionListProjection } from './execution-list.projection.js';

const log = createLogger({ service: 'test', level: 'silent' });

/** A seeded generator (mulberry32), so that a failing history can be reproduced. */
const seeded = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};

describe('the table of executions', () => {
  let infra: TestInfra;
  let database: Database;
  let store: EventStore;
  let runner: ProjectionRunner;
  let streams: ExecutionStreams;
  const supervisor = new Supervisor('test', log);

  beforeAll(async () => {
    infra = await startTestInfra({ parts: ['eventStore', 'postgres'] });
    database = await openDatabase({
      url: infra.databaseUrl,
      schema: 'exec',
      migrations: [createExecTables],
      applicationName: 'execution-list-test',
      log,
    });
    store = connectEventStore({ url: infra.eventStoreUrl, log });
    runner = new ProjectionRunner({ store, database, projection: executionListProjection, log });
    streams = new EventStreams({ store, decider: executionDecider, codec: executionCodec });
    supervisor.start('projection', (signal) => runner.run(signal));
    await runner.untilCaughtUp();
  });

  afterAll(async () => {
    await supervisor.stop();
    await Promise.all([store.close(), database.close()]);
    await infra.stop();
  });

  const rows = (): Promise<unknown[]> => database.query('SELECT * FROM execution_list ORDER BY id');

  const endAt = (at: string): ExecutionCommand => ({
    type: 'End',
    status: 'completed',
    // Larger than a 32-bit integer.
    exitCode: 2_147_483_648,
    startedAt: null,
    stdoutBytes: 0,
    stderrBytes: 0,
    at,
  });

  /** Writes the events of one random execution, submitted up to 60 h ago; returns the position of its last event. */
  const writeHistory = async (random: () => number): Promise<bigint> => {
    const submit = aCommand(`agt_${String(Math.floor(random() * 3))}`, { detached: random() < 0.5 });
    let at = Date.now() - Math.floor(random() * 60 * 3_600_000);
    const time = (): string => new Date((at += 1_000)).toISOString();
    const submission = aSubmission(submit, { at: time(), timeoutSeconds: random() < 0.2 ? 1e300 : 0.3 });
    const { executionId } = submission;
    let { position } = await streams.handle(executionId, { type: 'Submit', ...submission }, submit);
    const commands: readonly ExecutionCommand[] = [
      { type: 'Reroute', host: 'hst_2', epoch: 2, at: time() },
      { type: 'RequestCancel', at: time() },
      { type: 'Refuse', code: 'x', at: time() },
      endAt(time()),
    ];
    for (let step = 0; step < 3; step++) {
      const command = commands[Math.floor(random() * commands.length)];
      if (command === undefined) continue;
      const handled = await streams.handle(executionId, command, { ...submit, commandId: newId('cmd') });
      position = handled.position ?? position;
    }
    return position ?? 0n;
  };

  it('rebuilt from the log has the same rows as before', async () => {
    const random = seeded(20_261_121);
    let last = 0n;
    for (let n = 0; n < 120; n++) last = await writeHistory(random);
    expect(await runner.waitFor(last, 10_000)).toBe(true);
    const before = await rows();
    // The projection has pruned those that ended long ago.
    expect(before.length).toBeGreaterThan(20);
    expect(before.length).toBeLessThan(120);
    expect(new Set(before.map((row) => (row as { status: string }).status))).toEqual(
      new Set(['running', 'completed', 'refused']),
    );
    await runner.rebuild(() => undefined, new AbortController().signal);
    expect(await rows()).toEqual(before);
  });

  it('removes executions that ended more than 25 hours ago, but keeps running ones of any age', async () => {
    const hoursAgo = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString();
    const kept: string[] = [];
    const gone: string[] = [];
    for (const [hours, ended, list] of [
      [100, false, kept],
      [24, true, kept],
      [26, true, gone],
    ] as const) {
      const submit = aCommand('agt_old');
      const submission = aSubmission(submit, { at: hoursAgo(hours) });
      const { executionId } = submission;
      await streams.handle(executionId, { type: 'Submit', ...submission }, submit);
      if (ended)
        await streams.handle(executionId, endAt(hoursAgo(hours)), { ...submit, commandId: newId('cmd') });
      list.push(executionId);
    }
    const last = await writeHistory(seeded(1));
    expect(await runner.waitFor(last, 10_000)).toBe(true);
    const found = await database.query<{ id: string }>(
      "SELECT id FROM execution_list WHERE agent_id = 'agt_old'",
    );
    expect(found.map(({ id }) => id).sort()).toEqual(kept.sort());
    expect(found.map(({ id }) => id)).not.toEqual(expect.arrayContaining(gone));
  });
});

import { EventStreams, connectEventStore, ProjectionRunner, type EventStore } from '@berth/event-store';
import { isDomainError, newId } from '@berth/kernel';
import { openDatabase, type Database, type SqlRunner } from '@berth/persistence';
import { PersonalKey } from '@berth/personal-data';
import { Supervisor } from '@berth/supervision';
import { createLogger } from '@berth/telemetry';
import { startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentDecider } from '../agent/agent.decider.js';
import type { AgentCommand } from '../agent/agent.commands.js';
import { agentCodec } from '../agent/agent.events.js';
import type { Agent, AgentEvent } from '../agent/agent.js';
import { templateSource } from '../agent/agent-source.js';
import { agentsFromLog, aProfile } from '../fixtures/listed-agents.fixture.js';
import { box, keysOn } from '../fixtures/personal-data.fixture.js';
import { migrations } from '../migrations/migrations.js';
import { toPersonalIdentity } from '../personal-data/agent-identity.js';
import { agentListProjection } from './agent-list.projection.js';
import { AgentListQuery } from './agent-list.query.js';
import type { AgentsFromLog } from './agents-from-log.js';

const AGENTS = 40;
const STEPS = 12;
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

const commandsFor = (epoch: number, at: string): readonly AgentCommand[] => [
  { type: 'ConfirmStarted', epoch, guest: { version: '1.0.0', capabilities: ['exec.detached'] }, at },
  { type: 'FallAsleep', epoch, depth: 'warm', reason: 'idle', at },
  { type: 'FallAsleep', epoch, depth: 'cold', reason: 'cooled', at },
  { type: 'Wake', refusedEpoch: null, at },
  { type: 'Stop', target: 'stopped', at },
  { type: 'ConfirmStopped', epoch, at },
  { type: 'Start', cause: 'start', at },
  { type: 'FailTransition', epoch, code: 'agent_start_failed', message: 'It did not start.', at },
  { type: 'ReportCrash', epoch, message: 'exit code 1', at },
  { type: 'RequestDeletion', at },
  { type: 'ConfirmDeleted', at },
];

describe('the agent list', () => {
  let infra: TestInfra;
  let database: Database;
  let store: EventStore;
  let runner: ProjectionRunner;
  let agents: EventStreams<Agent, AgentCommand, AgentEvent>;
  const supervisor = new Supervisor('test', log);

  beforeAll(async () => {
    infra = await startTestInfra({ parts: ['eventStore', 'postgres'] });
    database = await openDatabase({
      url: infra.databaseUrl,
      schema: 'agents',
      migrations,
      applicationName: 'agent-list-test',
      log,
    });
    store = connectEventStore({ url: infra.eventStoreUrl, log });
    runner = new ProjectionRunner({ store, database, projection: agentListProjection(box), log });
    agents = new EventStreams({ store, decider: agentDecider, codec: agentCodec });
    supervisor.start('projection', (signal) => runner.run(signal));
    await runner.untilCaughtUp();
  });

  afterAll(async () => {
    await supervisor.stop();
    await Promise.all([store.close(), database.close()]);
    await infra.stop();
  });

  const send = async (agentId: string, command: AgentCommand): Promise<bigint | null> => {
    const origin = {
      commandId: newId('cmd'),
      accountId: 'acc_1',
      actor: { kind: 'system', id: 'test' },
    } as const;
    try {
      return (await agents.handle(agentId, command, origin)).position;
    } catch (error) {
      if (isDomainError(error)) return null;
      throw error;
    }
  };

  /** Sends random commands to one new agent; returns the position of its last event. */
  const runHistory = async (random: () => number): Promise<bigint> => {
    const agentId = newId('agt');
    let at = Date.UTC(2026, 10, 21);
    const time = (): string => new Date((at += 1_000)).toISOString();
    const profile = {
      ...aProfile(agentId, {
        externalId: random() < 0.5 ? agentId : null,
        labels: { half: random() < 0.5 ? 'one' : 'two' },
      }),
      idleTtlSeconds: random() < 0.2 ? 0 : 900,
    };
    let last = await send(agentId, {
      type: 'Create',
      agentId,
      profile,
      host: 'hst_1',
      attempt: 0,
      at: time(),
    });
    for (let step = 0; step < STEPS; step++) {
      const { state } = await agents.load(agentId);
      const commands = commandsFor(state.status === 'live' ? state.epoch : 0, time());
      const command = commands[Math.floor(random() * commands.length)];
      last = (command === undefined ? null : await send(agentId, command)) ?? last;
    }
    return last ?? 0n;
  };

  const fromLog = (): AgentsFromLog => agentsFromLog(store, database, runner);

  const rows = (): Promise<unknown[]> => database.query('SELECT * FROM agent_list ORDER BY id');

  it('has the same rows after a rebuild as before', async () => {
    const random = seeded(20_261_121);
    let last = 0n;
    for (let agent = 0; agent < AGENTS; agent++) last = await runHistory(random);
    expect(await runner.waitFor(last, 10_000)).toBe(true);
    const before = await rows();
    expect(before.length).toBeGreaterThan(10);
    expect(before.length).toBeLessThan(AGENTS);
    await runner.rebuild(() => undefined, new AbortController().signal);
    expect(await rows()).toEqual(before);
  });

  it('returns every agent as its log describes it', async () => {
    const query = new AgentListQuery(database, fromLog(), runner);
    const shown = await database.query<{ id: string }>(`SELECT id FROM agent_list WHERE state <> 'deleting'`);
    expect(shown.length).toBeGreaterThan(5);
    for (const { id } of shown)
      expect(await fromLog().view('acc_1', id)).toEqual(await query.get('acc_1', id));
  });

  it('returns only agents that match its filters, each on exactly one page', async () => {
    const query = new AgentListQuery(database, fromLog(), runner);
    const all = {
      accountId: 'acc_1',
      externalId: null,
      externalUserId: null,
      state: null,
      name: null,
      label: null,
    };
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof query.list>> = await query.list({
        ...all,
        label: 'half=one',
        cursor,
        limit: 3,
      });
      expect(page.items.every(({ labels }) => labels['half'] === 'one')).toBe(true);
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor !== null);
    const expected = await database.query<{ id: string }>(
      `SELECT id FROM agent_list WHERE labels->>'half' = 'one' AND state <> 'deleting' ORDER BY id DESC`,
    );
    expect(seen).toEqual(expected.map(({ id }) => id));
    expect((await query.list({ ...all, accountId: 'acc_2', cursor: null, limit: 50 })).items).toEqual([]);
    await expect(query.list({ ...all, cursor: 'not-a-cursor', limit: 1 })).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });

  it('tells the agents of end users with the same external id apart', async () => {
    const keys = await Promise.all(
      [4, 5].map((byte) => keysOn(database).keep(new PersonalKey(newId('eus'), Buffer.alloc(32, byte)))),
    );
    const at = new Date().toISOString();
    const made: string[] = [];
    for (const key of keys) {
      if (key === null) throw new Error('The key was not kept.');
      const agentId = newId('agt');
      const { data: identity } = aProfile(agentId, { externalUserId: 'twin' }).personal;
      const profile = { ...aProfile(agentId), personal: toPersonalIdentity(key, agentId, identity) };
      const last = await send(agentId, { type: 'Create', agentId, profile, host: 'hst_1', attempt: 0, at });
      expect(await runner.waitFor(last ?? 0n, 10_000)).toBe(true);
      made.unshift(agentId);
    }
    const query = new AgentListQuery(database, fromLog(), runner);
    const filters = { externalId: null, externalUserId: 'twin', state: null, name: null, label: null };
    const list = async (endUserId?: string): Promise<readonly string[]> => {
      const of = endUserId === undefined ? {} : { endUserId };
      const page = await query.list({ accountId: 'acc_1', ...filters, ...of, cursor: null, limit: 10 });
      return page.items.map(({ id }) => id);
    };
    expect(await list()).toEqual(made);
    expect([await list(keys[1]?.endUserId), await list(keys[0]?.endUserId)]).toEqual(made.map((id) => [id]));
  });

  it('has the identity of an agent of an end user while there is a key, and null in its place after', async () => {
    const key = await keysOn(database).keep(new PersonalKey(newId('eus'), Buffer.alloc(32, 3)));
    if (key === null) throw new Error('The key was not kept.');
    const agentId = newId('agt');
    const identity = {
      name: 'CANARY',
      externalId: 'CANARY',
      externalUserId: 'CANARY',
      instructions: 'CANARY',
      labels: { CANARY: 'CANARY' },
    };
    const profile = { ...aProfile(agentId), personal: toPersonalIdentity(key, agentId, identity) };
    const at = new Date().toISOString();
    const last = await send(agentId, { type: 'Create', agentId, profile, host: 'hst_1', attempt: 0, at });
    expect(await runner.waitFor(last ?? 0n, 10_000)).toBe(true);
    const data = (await store.read(`agent-${agentId}`)).map((event) => event.data);
    expect(JSON.stringify(data)).not.toContain('CANARY');
    const list = (): Promise<Record<string, unknown>[]> =>
      database.query('SELECT * FROM agent_list ORDER BY id');
    const before = await list();
    const opened = { external_user_id: 'CANARY', instructions: 'CANARY', labels: { CANARY: 'CANARY' } };
    expect(before.find(({ id }) => id === agentId)).toMatchObject({
      name: 'CANARY',
      external_id: 'CANARY',
      ...opened,
    });
    await keysOn(database).destroy(key.endUserId);
    await runner.rebuild(() => undefined, new AbortController().signal);
    const gone = { name: null, external_id: null, external_user_id: null, instructions: null, labels: null };
    expect(await list()).toEqual(before.map((row) => (row['id'] === agentId ? { ...row, ...gone } : row)));
    await expect(fromLog().view('acc_1', agentId)).rejects.toMatchObject({ code: 'agent_not_found' });
    expect(await keysOn(database).keep(key)).toBeNull();
  });

  it('limits the size of a page: no page of the largest agents exceeds a message, and no agent is missing', async () => {
    const accountId = 'acc_large';
    const ids: string[] = [];
    for (let n = 0; n < 30; n++) {
      const agentId = newId('agt');
      // Accepted before instructions were limited: 100,000 characters of six bytes each in JSON.
      const profile = { ...aProfile(agentId, { instructions: '\u0001'.repeat(100_000) }), accountId };
      const at = new Date().toISOString();
      const last = await send(agentId, { type: 'Create', agentId, profile, host: 'hst_1', attempt: 0, at });
      expect(await runner.waitFor(last ?? 0n, 10_000)).toBe(true);
      ids.unshift(agentId);
    }
    const query = new AgentListQuery(database, fromLog(), runner);
    const filters = {
      accountId,
      externalId: null,
      externalUserId: null,
      state: null,
      name: null,
      label: null,
    };
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof query.list>> = await query.list({
        ...filters,
        cursor,
        limit: 200,
      });
      expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThan(8 * 1024 * 1024 - 4_096);
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(seen).toEqual(ids);
    const whole = await query.list({ ...filters, cursor: null, limit: 2 });
    expect([whole.items.length, whole.nextCursor !== null]).toEqual([2, true]);
  });

  it('writes a batch of the largest agents in statements of limited size', async () => {
    const at = new Date().toISOString();
    const metadata = {
      correlationId: 'c',
      causationId: 'c',
      accountId: 'acc_batch',
      actor: { kind: 'system', id: 't' },
    } as const;
    const created = Array.from({ length: 60 }, (_, n) => {
      const agentId = newId('agt');
      const profile = aProfile(agentId, { instructions: '\u0001'.repeat(100_000) });
      const event = agentCodec.toStored({
        type: 'AgentCreated.v3',
        data: { agentId, ...profile, source: templateSource('echo'), at },
      });
      const place = { stream: `agent-${agentId}`, revision: 0n, position: BigInt(n), createdAt: new Date() };
      return { ...event, ...place, id: newId('cmd'), metadata };
    });
    let largest = 0;
    await database.transaction(async (tx) => {
      const measured: SqlRunner = {
        query: (sql, params) => {
          largest = Math.max(largest, ...(params ?? []).map((param) => String(param).length));
          return tx.query(sql, params);
        },
      };
      await agentListProjection(box).createTables(tx, 'batch');
      await agentListProjection(box).apply(measured, 'batch', created);
      expect(await tx.query('SELECT count(*) AS agents FROM agent_list_batch')).toEqual([{ agents: '60' }]);
      await agentListProjection(box).dropTables(tx, 'batch');
    });
    expect(largest).toBeGreaterThan(100_000);
    expect(largest).toBeLessThan(8 * 1024 * 1024);
  });
});

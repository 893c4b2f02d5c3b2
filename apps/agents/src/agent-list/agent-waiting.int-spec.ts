import type { AgentState, AgentView } from '@berth/contracts/agents';
import {
  EventStreams,
  connectEventStore,
  ProjectionRunner,
  streamName,
  type EventStore,
} from '@berth/event-store';
import { newId } from '@berth/kernel';
import { NatsLink, NatsNotices } from '@berth/messaging';
import { openDatabase, type Database } from '@berth/persistence';
import { pause } from '@berth/supervision';
import { createLogger } from '@berth/telemetry';
import { BrokerProxy, eventually, startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { AgentCommand } from '../agent/agent.commands.js';
import { agentDecider } from '../agent/agent.decider.js';
import { agentCodec } from '../agent/agent.events.js';
import type { Agent, AgentEvent } from '../agent/agent.js';
import { agentsFromLog, aProfile } from '../fixtures/listed-agents.fixture.js';
import { box } from '../fixtures/personal-data.fixture.js';
import { migrations } from '../migrations/migrations.js';
import { agentListProjection } from './agent-list.projection.js';
import { AgentListQuery } from './agent-list.query.js';

const ACCOUNT = 'acc_1';
const NOTICES = 'berth.notice.agents.projections.agent-list';
const NOTICE_WITHIN_MS = 20_000;
const log = createLogger({ service: 'test', level: 'silent' });

/** The parts of one instance of the service that waiting reads need. */
interface Instance {
  readonly database: Database;
  readonly link: NatsLink;
  readonly runner: ProjectionRunner;
  readonly query: AgentListQuery;
}

let infra: TestInfra;
let store: EventStore;
let proxy: BrokerProxy;
let writer: Instance;
let reader: Instance;
let agents: EventStreams<Agent, AgentCommand, AgentEvent>;
let running: Promise<void>;
const ending = new AbortController();

const start = async (natsUrl: string): Promise<Instance> => {
  const link = await NatsLink.open({ url: natsUrl, name: 'agents', log });
  const options = { url: infra.databaseUrl, schema: 'agents', migrations, applicationName: 'test', log };
  const database = await openDatabase({ ...options, notices: NatsNotices.of(link, 'agents') });
  const notices = new NatsNotices(link, 'agents');
  const runner = new ProjectionRunner({
    store,
    database,
    notices,
    projection: agentListProjection(box),
    log,
  });
  const fromLog = agentsFromLog(store, database, runner);
  return { link, database, runner, query: new AgentListQuery(database, fromLog, runner) };
};

beforeAll(async () => {
  infra = await startTestInfra({ parts: ['nats', 'eventStore', 'postgres'] });
  proxy = await BrokerProxy.start(infra.part('nats').port);
  store = connectEventStore({ url: infra.eventStoreUrl, log });
  agents = new EventStreams({ store, decider: agentDecider, codec: agentCodec });
  writer = await start(infra.natsUrl);
  reader = await start(infra.natsUrl.replace(`:${infra.part('nats').port}`, `:${proxy.port}`));
  running = writer.runner.run(ending.signal);
  await writer.runner.untilCaughtUp();
  // The first watch subscribes to the notices, which counts as a change.
  await created();
});

afterEach(() => {
  vi.restoreAllMocks();
  proxy.restore();
});

afterAll(async () => {
  ending.abort();
  await running;
  await Promise.all([writer, reader].map(({ database }) => database.close()));
  await Promise.all([writer, reader].map(({ link }) => link.close()));
  await Promise.all([store.close(), proxy.stop()]);
  await infra.stop();
});

const send = async (agentId: string, command: AgentCommand): Promise<void> => {
  const actor = { kind: 'system', id: 'test' } as const;
  await agents.handle(agentId, command, { commandId: newId('cmd'), accountId: ACCOUNT, actor });
};

const now = (): string => new Date().toISOString();

const create = async (agentId: string): Promise<void> => {
  const profile = aProfile(agentId);
  await send(agentId, { type: 'Create', agentId, profile, host: 'hst_1', attempt: 0, at: now() });
};

const confirmStarted = (agentId: string): Promise<void> =>
  send(agentId, {
    type: 'ConfirmStarted',
    epoch: 1,
    guest: { version: '1.0.0', capabilities: ['exec.detached'] },
    at: now(),
  });

const waitFor = (agentId: string, state: AgentState, timeoutSeconds = 20): Promise<AgentView> =>
  reader.query.waitFor({ accountId: ACCOUNT, agentId, wait: { state, timeoutSeconds } });

/** Resolves when the list has the agent, and its notice has reached the other instance: later it would cause a read. */
const created = async (): Promise<string> => {
  const agentId = newId('agt');
  using creation = reader.runner.watchStream(streamName(agentCodec.category, agentId));
  await create(agentId);
  await creation.changed(NOTICE_WITHIN_MS);
  await eventually(async () => {
    const rows = await reader.database.query('SELECT 1 FROM agent_list WHERE id = $1', [agentId]);
    return rows.length === 1;
  });
  return agentId;
};

/** Starts a waiting read of each agent. Resolves after each has queried once; `queries` records the queries after that. */
const waiting = async (agentIds: readonly string[], state: AgentState) => {
  const queries = vi.spyOn(reader.database, 'query');
  const ended = agentIds.map((agentId) => waitFor(agentId, state));
  await eventually(() => queries.mock.results.length >= agentIds.length);
  await Promise.all(queries.mock.results.map(({ value }) => value as Promise<unknown>));
  queries.mockClear();
  return { ended, queries };
};

describe('a read that waits for a state', () => {
  it('returns when another instance has written that state', async () => {
    const agentId = await created();
    const { ended } = await waiting([agentId], 'running');
    await confirmStarted(agentId);
    expect((await Promise.all(ended)).map(({ state }) => state)).toEqual(['running']);
  });

  it('queries nothing while nothing changes, however many reads wait', async () => {
    const agentIds = await Promise.all(Array.from({ length: 20 }, created));
    const { ended, queries } = await waiting(
      Array.from({ length: 500 }, (_, n) => agentIds[n % agentIds.length] ?? ''),
      'running',
    );
    await pause(1_000);
    expect(queries.mock.calls.length).toBeLessThan(5);
    await Promise.all(agentIds.map(confirmStarted));
    expect((await Promise.all(ended)).every(({ state }) => state === 'running')).toBe(true);
  });

  it('does not read again when another agent changes', async () => {
    const [changing, other] = await Promise.all([created(), created()]);
    const { ended, queries } = await waiting([changing, other], 'running');
    await confirmStarted(changing);
    await ended[0];
    const reads = queries.mock.calls.filter(([sql]) => sql.includes('FROM agent_list'));
    expect(reads.map(([, params]) => params?.[0])).toEqual([changing]);
    await confirmStarted(other);
    await ended[1];
  });

  it('returns within seconds although the notice of the change was lost', async () => {
    const agentId = await created();
    const { ended } = await waiting([agentId], 'running');
    proxy.loseNext(NOTICES);
    const began = performance.now();
    await confirmStarted(agentId);
    await Promise.all(ended);
    expect(proxy.isArmed).toBe(false);
    expect(performance.now() - began).toBeLessThan(8_000);
  });

  it('returns when the next notice arrives after one was lost', async () => {
    const [agentId, other] = await Promise.all([created(), created()]);
    const { ended } = await waiting([agentId], 'running');
    proxy.loseNext(NOTICES);
    await confirmStarted(agentId);
    await eventually(() => !proxy.isArmed);
    const began = performance.now();
    await confirmStarted(other);
    await Promise.all(ended);
    // The position is polled every two seconds.
    expect(performance.now() - began).toBeLessThan(1_000);
  });
});

import { connectEventStore, type EventStore } from '@berth/event-store';
import { openDatabase, type Database } from '@berth/persistence';
import { Supervisor } from '@berth/supervision';
import { eventually, startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { appendAgents, toContractEvent } from './__fixtures__/agent-events.fixture.js';
import { Broker } from './__fixtures__/broker.fixture.js';
import { keepingLogger } from './__fixtures__/lines.fixture.js';
import { NatsCluster } from './__fixtures__/nats-cluster.fixture.js';
import { DeadLetters } from './dead-letters.js';
import { EventStream } from './event-stream.js';
import { EventRelay, NatsLink } from './index.js';

const STREAM = 'berth_EVT_AGENTS';
const DEAD_LETTERS = 'berth_DLQ_AGENTS';
const PATIENTLY = { timeoutMs: 30_000, intervalMs: 200 };
const { log } = keepingLogger();

describe('streams in a cluster of three', () => {
  let infra: TestInfra;
  let store: EventStore;
  let database: Database;
  let cluster: NatsCluster;
  let round = 0;
  const cleanups: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    infra = await startTestInfra({ parts: ['eventStore', 'postgres'] });
    store = connectEventStore({ url: infra.eventStoreUrl, log });
    const options = { schema: 'replicas', migrations: [], applicationName: 'test', log };
    database = await openDatabase({ url: infra.databaseUrl, ...options });
    cluster = await NatsCluster.start(['n0', 'n1', 'n2']);
  });
  beforeEach(() => void round++);
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });
  afterAll(async () => {
    await cluster.stop();
    await store.close();
    await database.close();
    await infra.stop();
  });

  const open = async (replicas?: number): Promise<NatsLink> => {
    const url = cluster.servers.map((server) => server.url).join(',');
    const link = await NatsLink.open({ url, name: 'replicas', instance: `r${round}`, log, replicas });
    cleanups.push(() => link.close());
    return link;
  };

  /** Waits until the cluster has a leader that accepts requests. */
  const prepared = async (link: NatsLink): Promise<void> => {
    await eventually(async () => (await EventStream.of(link, 'agents')).ensure(), PATIENTLY);
    await eventually(async () => (await DeadLetters.of(link, 'agents', 'x')).ensure(), PATIENTLY);
  };

  const replicasOf = async (link: NatsLink, stream: string): Promise<number> => {
    const { config } = await (await Broker.of(link)).streams.info(stream.replace('berth', `r${round}`));
    return config.num_replicas;
  };

  const relay = (link: NatsLink): void => {
    const supervisor = new Supervisor('test', log);
    const relaying = new EventRelay({
      store,
      link,
      database,
      context: 'agents',
      categories: ['agent'],
      toContractEvent: (event) =>
        event.stream.startsWith(`agent-s${round}x`) ? toContractEvent(event) : null,
      log,
    });
    supervisor.start('relay', (signal) => relaying.run(signal));
    cleanups.push(() => supervisor.stop());
  };

  it('have three replicas by default, and lose no event when a server is killed', async () => {
    const link = await open();
    await prepared(link);
    expect(await replicasOf(link, STREAM)).toBe(3);
    expect(await replicasOf(link, DEAD_LETTERS)).toBe(3);
    relay(link);
    const before = await appendAgents(store, `s${round}xa`, 5);
    const broker = await Broker.of(link);
    const published = () => broker.ids(STREAM.replace('berth', `r${round}`));
    await eventually(async () => expect(await published()).toEqual(before), PATIENTLY);
    await cluster.server(0).kill();
    const after = await appendAgents(store, `s${round}xb`, 5);
    await eventually(async () => expect(await published()).toEqual([...before, ...after]), PATIENTLY);
    await cluster.server(0).resume();
  });

  it('of an earlier version with one replica get three', async () => {
    const single = await open(1);
    await prepared(single);
    expect(await replicasOf(single, STREAM)).toBe(1);
    const link = await open();
    relay(link);
    await eventually(async () => expect(await replicasOf(link, STREAM)).toBe(3), PATIENTLY);
    await prepared(link);
    expect(await replicasOf(link, DEAD_LETTERS)).toBe(3);
  });
});

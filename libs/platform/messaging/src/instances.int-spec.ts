import { connectEventStore } from '@berth/event-store';
import { openDatabase, type Database } from '@berth/persistence';
import { Supervisor } from '@berth/supervision';
import { eventually, startTestInfra, type TestInfra } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { appendAgents, toContractEvent } from './__fixtures__/agent-events.fixture.js';
import { Broker } from './__fixtures__/broker.fixture.js';
import { echoModule, echoRequests } from './__fixtures__/echo-service.fixture.js';
import { keepingLogger } from './__fixtures__/lines.fixture.js';
import { NatsServerFixture } from './__fixtures__/nats-server.fixture.js';
import { WAYS } from './__fixtures__/ways-of-requests.fixture.js';
import {
  EventConsumer,
  EventRelay,
  NatsLink,
  Requester,
  startService,
  type ProcessHandlers,
} from './index.js';

const { log } = keepingLogger();
const cleanUps: (() => Promise<unknown>)[] = [];
let nats: NatsServerFixture;

beforeEach(async () => {
  nats = await NatsServerFixture.start();
});

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  await nats.stop();
});

const link = async (instance: string, handlers?: ProcessHandlers): Promise<NatsLink> => {
  const opened = await NatsLink.open({ url: nats.url, name: 'echo', instance, handlers, log });
  cleanUps.push(() => opened.close());
  return opened;
};

/** A separate database: it holds the lock for work that only one instance does. */
const databaseOf = async (infra: TestInfra, instance: string): Promise<Database> => {
  const open = (url: string): Promise<Database> =>
    openDatabase({ url, schema: 'agents', migrations: [], applicationName: instance, log });
  const first = await open(infra.databaseUrl);
  await first.query(`CREATE DATABASE ${instance}`);
  await first.close();
  const url = new URL(infra.databaseUrl);
  url.pathname = `/${instance}`;
  const database = await open(url.href);
  cleanUps.push(() => database.close());
  return database;
};

describe('two installations on one broker', () => {
  it.each(WAYS)('get the requests of their own callers only, %s', async (_, handlersOf) => {
    const handlers = handlersOf();
    const requesters = new Map<string, Requester>();
    for (const instance of ['one', 'two']) {
      const own = await link(instance, handlers);
      const service = await startService({
        name: 'echo',
        module: echoModule(instance),
        link: own,
        host: 'h1',
        log,
      });
      cleanUps.push(() => service.stop());
      requesters.set(instance, new Requester(own));
    }
    for (const [instance, requester] of requesters) {
      const responses = await Promise.all(
        Array.from({ length: 20 }, () => requester.request(echoRequests.echo, { text: '' })),
      );
      expect(new Set(responses.map(({ by }) => by))).toEqual(new Set([instance]));
      expect(await requester.requestAll(echoRequests.whoIsThere, null, { waitMs: 300 })).toEqual([instance]);
    }
  });

  it('consume the events of their own log only', async () => {
    const infra = await startTestInfra({ parts: ['eventStore', 'postgres'] });
    cleanUps.push(() => infra.stop());
    const store = connectEventStore({ url: infra.eventStoreUrl, log });
    cleanUps.push(() => store.close());
    const received = new Map<string, string[]>();
    const appended = new Map<string, string[]>();
    for (const instance of ['one', 'two']) {
      const own = await link(instance);
      const database = await databaseOf(infra, instance);
      const seen: string[] = [];
      received.set(instance, seen);
      const common = { link: own, database, store, context: 'agents', log };
      const relay = new EventRelay({
        ...common,
        categories: ['agent'],
        toContractEvent: (event) =>
          event.stream.startsWith(`agent-${instance}`) ? toContractEvent(event) : null,
      });
      const consumer = new EventConsumer({
        ...common,
        durable: 'effects',
        filterSubjects: ['evt.agents.started.v1.>'],
        handle: async ({ id }) => void seen.push(await Promise.resolve(id)),
      });
      const supervisor = new Supervisor('test', log);
      supervisor.start('relay', (signal) => relay.run(signal));
      supervisor.start('consumer', (signal) => consumer.run(signal));
      cleanUps.push(() => supervisor.stop());
      appended.set(instance, await appendAgents(store, instance, 5));
    }
    await eventually(() => expect(received).toEqual(appended), { timeoutMs: 20_000 });
    const broker = await Broker.of(await link('one'));
    expect(await broker.ids('one_EVT_AGENTS')).toEqual(appended.get('one'));
    expect(await broker.ids('two_EVT_AGENTS')).toEqual(appended.get('two'));
  });
});

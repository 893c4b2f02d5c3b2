import { connectEventStore, type EventStore } from '@berth/event-store';
import { openDatabase, type Database } from '@berth/persistence';
import { Supervisor } from '@berth/supervision';
import { eventually, startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { appendAgents, toContractEvent } from './__fixtures__/agent-events.fixture.js';
import { Broker } from './__fixtures__/broker.fixture.js';
import { keepingLogger } from './__fixtures__/lines.fixture.js';
import { PATIENTLY } from './__fixtures__/consumer-round.fixture.js';
import {
  BrokerCheck,
  EventConsumer,
  EventRelay,
  InstallationClaim,
  logIdentity,
  NatsLink,
  type EventConsumerOptions,
} from './index.js';

const { log, lines } = keepingLogger();
const supervisor = new Supervisor('test', log);
let infra: TestInfra;
let store: EventStore;
let database: Database;
let agents: NatsLink;
let exec: NatsLink;

beforeAll(async () => {
  infra = await startTestInfra({ parts: ['nats', 'eventStore', 'postgres'] });
  store = connectEventStore({ url: infra.eventStoreUrl, log });
  const url = infra.databaseUrl;
  database = await openDatabase({ url, schema: 'users', migrations: [], applicationName: 'test', log });
  agents = await NatsLink.open({ url: infra.natsUrlOf('agents'), name: 'agents', log });
  exec = await NatsLink.open({ url: infra.natsUrlOf('exec'), name: 'exec', log });
});

afterAll(async () => {
  await supervisor.stop();
  await Promise.all([agents.close(), exec.close()]);
  await Promise.all([database.close(), store.close()]);
  await infra.stop();
});

const relay = (): EventRelay =>
  new EventRelay({
    store,
    link: agents,
    database,
    context: 'agents',
    categories: ['agent'],
    toContractEvent,
    log,
  });

const consumer = (handle: EventConsumerOptions['handle']): EventConsumer =>
  new EventConsumer({
    store,
    link: exec,
    database,
    context: 'agents',
    durable: 'exec__agent-ends',
    filterSubjects: ['evt.agents.started.v1.>', 'evt.agents.stopped.v1.>'],
    handle,
    log,
    maxDeliveries: 1,
  });

it('services claim, relay, consume, dead-letter, replay and repair streams with only the permissions they have', async () => {
  for (const link of [agents, exec])
    await InstallationClaim.take({ link, logId: await logIdentity(store), log });
  expect(await new BrokerCheck(agents, { publishes: ['agents'] }, log).isFit()).toBe(true);
  expect(await new BrokerCheck(exec, { publishes: ['exec'], consumes: ['agents'] }, log).isFit()).toBe(true);

  let broken = true;
  const handled: string[] = [];
  const consuming = consumer(async ({ id }) => {
    await Promise.resolve();
    if (broken) throw new Error('Not now.');
    handled.push(id);
  });
  const relaying = relay();
  supervisor.start('relay', (signal) => relaying.run(signal));
  supervisor.start('consumer', (signal) => consuming.run(signal));
  const first = await appendAgents(store, 'first', 2);
  const letters = await consuming.deadLetters();
  await eventually(async () => expect(await letters.count()).toBe(2), PATIENTLY);

  broken = false;
  const [replayed = '', deleted = ''] = first;
  expect(await consuming.replay(replayed)).toBe('handled');
  expect(await letters.remove(deleted)).toBe(true);
  expect(await letters.list()).toEqual([]);

  // The stream is deleted together with its consumer; both are created again.
  const operator = await NatsLink.open({ url: infra.natsUrl, name: 'operator', log });
  await (await Broker.of(operator)).streams.delete('berth_EVT_AGENTS');
  await operator.close();
  const second = await appendAgents(store, 'second', 2);
  await eventually(() => expect(handled).toEqual([replayed, ...second]), PATIENTLY);
  await agents.close();
  await exec.close();
  expect(lines.filter((line) => /permission/i.test(line))).toEqual([]);
});

import { connectEventStore, type EventStore } from '@berth/event-store';
import { openDatabase, type Database } from '@berth/persistence';
import { Supervisor } from '@berth/supervision';
import { eventually, startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { agentStarted, appendAgents, toContractEvent } from './__fixtures__/agent-events.fixture.js';
import { Broker } from './__fixtures__/broker.fixture.js';
import { keepingLogger } from './__fixtures__/lines.fixture.js';
import { NatsServerFixture } from './__fixtures__/nats-server.fixture.js';
import { EventRelay, NatsLink } from './index.js';
import { EventStream, type Retention } from './event-stream.js';
import { RelayPublisher } from './relay-publisher.js';

const STREAM = 'berth_EVT_AGENTS';
/** The broker's error code. */
const WRONG_LAST_SEQUENCE = 10_071;
const PATIENTLY = { timeoutMs: 20_000 };

describe('the event relay', () => {
  let infra: TestInfra;
  let nats: NatsServerFixture;
  let link: NatsLink;
  let store: EventStore;
  let database: Database;
  let broker: Broker;
  const { log } = keepingLogger();
  const running: Supervisor[] = [];
  const expected: string[] = [];
  let round = 0;

  beforeAll(async () => {
    infra = await startTestInfra({ parts: ['eventStore', 'postgres'], own: ['eventStore'] });
    store = connectEventStore({ url: infra.eventStoreUrl, log });
    database = await openDatabase({
      url: infra.databaseUrl,
      schema: 'relay',
      migrations: [],
      applicationName: 'test',
      log,
    });
  });
  beforeEach(async () => {
    round++;
    nats = await NatsServerFixture.start();
    link = await NatsLink.open({ url: nats.url, name: 'relay', log });
    broker = await Broker.of(link);
    await database.query('DROP TABLE IF EXISTS event_relay');
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((supervisor) => supervisor.stop()));
    await link.close();
    await nats.stop();
  });
  afterAll(async () => {
    await store.close();
    await database.close();
    await infra.stop();
  });

  const relayOf = (retention: Retention = {}): EventRelay =>
    new EventRelay({
      retention,
      store,
      link,
      database,
      context: 'agents',
      categories: ['agent'],
      toContractEvent,
      log,
    });

  const start = (retention?: Retention): (() => Promise<void>) => {
    const supervisor = new Supervisor('test', log);
    const relay = relayOf(retention);
    supervisor.start('relay', (signal) => relay.run(signal));
    running.push(supervisor);
    return () => supervisor.stop();
  };

  const append = async (count: number): Promise<void> => {
    expected.push(...(await appendAgents(store, `r${round}x${expected.length}x`, count)));
  };

  const allThere = (): Promise<unknown> =>
    eventually(async () => expect(await broker.ids(STREAM)).toEqual(expected), PATIENTLY);

  it('publishes public events once, in log order, with position and request id', async () => {
    await append(5);
    await store.append('agent-private', [agentStarted('private', 'AgentNoted')], 'no_stream');
    await store.append('other-1', [agentStarted('other')], 'no_stream');
    start();
    await append(5);
    await allThere();
    const message = await broker.streams.getMessage(STREAM, { seq: 1 });
    expect(message?.subject).toMatch(/^berth\.evt\.agents\.started\.v1\.acc_1\.r1x0x0$/);
    expect(message?.header.get('Berth-Position')).toMatch(/^\d+$/);
    expect(message?.header.get('Berth-Request-Id')).toBe('req-r1x0x0');
    expect(message?.json()).toEqual({ agentId: 'r1x0x0' });
  });

  it('continues at the end of the stream after a stop, without publishing any event twice', async () => {
    const stop = start();
    await allThere();
    await stop();
    await append(3);
    start();
    await allThere();
  });

  it('publishes events appended while it was down, even if its checkpoint was never written', async () => {
    const stop = start();
    await allThere();
    await stop();
    await database.query('DELETE FROM event_relay');
    await append(2);
    start();
    await allThere();
  });

  it('recognises stored events whose acknowledgement was lost', async () => {
    const stop = start();
    await allThere();
    await stop();
    await append(2);
    // As if the relay had crashed after the broker stored the event and before it wrote its checkpoint.
    const [first] = await store.read(`agent-r${round}x${expected.length - 2}x0`);
    if (first === undefined) throw new Error('The event is not in the log.');
    const stream = await EventStream.of(link, 'agents');
    const publisher = new RelayPublisher(stream.client, await stream.end(), () => undefined);
    const { eventHeaders } = await import('./event-headers.js');
    await publisher.publish({
      id: first.id,
      subject: link.names.subject(toContractEvent(first)?.subject ?? ''),
      data: '{}',
      headers: eventHeaders(first, null),
      position: first.position,
    });
    await publisher.settle();
    start();
    await allThere();
  });

  it('publishes each event once when it is started twice, and the second takes over when the first stops', async () => {
    const stop = start();
    start();
    await append(20);
    await allThere();
    await stop();
    await append(5);
    await allThere();
  });

  it('stores nothing twice when another relay publishes without the lock', async () => {
    start();
    await allThere();
    const stream = await EventStream.of(link, 'agents');
    const end = await stream.end();
    const failures: Error[] = [];
    const zombie = new RelayPublisher(stream.client, end, (error) => failures.push(error));
    await append(3);
    await allThere();
    const [event] = await store.read(`agent-r${round}x${expected.length - 3}x0`);
    if (event === undefined) throw new Error('The event is not in the log.');
    const { eventHeaders } = await import('./event-headers.js');
    const again = {
      id: `${event.id}-again`,
      subject: link.names.subject(toContractEvent(event)?.subject ?? ''),
      data: '{}',
      position: event.position,
    };
    await zombie.publish({ ...again, headers: eventHeaders(event, null) });
    await expect(zombie.settle()).rejects.toMatchObject({ code: WRONG_LAST_SEQUENCE });
    expect(failures).toHaveLength(1);
    await allThere();
  });

  it('fills the stream again when it was deleted', async () => {
    start();
    await allThere();
    await broker.streams.delete(STREAM);
    await allThere();
  });

  it('fills the stream again when it was purged', async () => {
    start();
    await allThere();
    await broker.streams.purge(STREAM);
    await allThere();
  });

  it('publishes a lost tail again', async () => {
    const stop = start();
    await append(10);
    await allThere();
    await stop();
    await broker.loseAllBut(STREAM, expected.length - 4);
    start();
    await allThere();
  });

  it('fills the stream again when the broker came back with an empty store', async () => {
    start();
    await allThere();
    await nats.kill();
    await nats.wipe();
    await nats.resume();
    await append(2);
    await allThere();
  });

  it('ends when the broker disconnects, before its next publication times out', async () => {
    const supervisor = new Supervisor('test', log);
    const relay = relayOf();
    supervisor.start('relay', (signal) => relay.run(signal));
    running.push(supervisor);
    await append(1);
    await allThere();
    await nats.kill();
    await eventually(() => {
      expect(supervisor.failing).toEqual([{ work: 'relay', error: 'The broker was disconnected.' }]);
    });
    await append(3);
    await nats.resume();
    await allThere();
  });

  it('continues after an outage of the broker or the log', async () => {
    start();
    await allThere();
    await nats.kill();
    await append(3);
    await nats.resume();
    await allThere();
    infra.part('eventStore').kill();
    await eventually(() => append(1), PATIENTLY);
    await allThere();
  });

  it('keeps the last message and those that a consumer still needs when it removes old ones', async () => {
    start();
    await allThere();
    const stream = await EventStream.of(link, 'agents');
    const nothingYet = await stream.trim({ maxAgeMs: 60_000 });
    expect(nothingYet).toBe(0);
    await broker.consumers.add(STREAM, { durable_name: 'slow', ack_policy: 'explicit' });
    await expect(stream.trim({ maxAgeMs: 0 })).resolves.toBe(0);
    await broker.consumers.delete(STREAM, 'slow');
    await expect(stream.trim({ maxAgeMs: 0 })).resolves.toBe(expected.length - 1);
    const { state } = await broker.streams.info(STREAM);
    expect(state.messages).toBe(1);
    expect(state.last_seq).toBe(expected.length);
  });

  it('keeps what a consumer still needs although there are more messages than it should retain', async () => {
    const retention = { maxMessages: 3 };
    const stop = start();
    await append(1);
    await allThere();
    await stop();
    // As earlier versions made it.
    await broker.streams.update(STREAM, { max_msgs: expected.length + 1 });
    start(retention);
    await eventually(async () => expect((await broker.streams.info(STREAM)).config.max_msgs).toBe(-1));
    await broker.consumers.add(STREAM, { durable_name: 'slow', ack_policy: 'explicit' });
    await append(10);
    await allThere();
    const stream = await EventStream.of(link, 'agents');
    await expect(stream.trim(retention)).resolves.toBe(0);
    // None of its events came, so its floor is still that of its creation, but it needs nothing.
    const subject = link.names.subject('evt.agents.stopped.v1.*.*');
    await broker.consumers.add(STREAM, {
      durable_name: 'idle',
      ack_policy: 'explicit',
      filter_subject: subject,
    });
    await broker.consumers.delete(STREAM, 'slow');
    // Until it is known that they have been unneeded for a while.
    await expect(stream.trim(retention, 1)).resolves.toBe(0);
    await expect(stream.trim(retention)).resolves.toBe(expected.length - 3);
    await expect(broker.ids(STREAM)).resolves.toEqual(expected.slice(-3));
  });
});

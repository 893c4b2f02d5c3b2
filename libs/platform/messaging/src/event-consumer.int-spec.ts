import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { connectEventStore, type EventStore } from '@berth/event-store';
import { openDatabase, type Database } from '@berth/persistence';
import { eventually, startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { agentStarted, appendAgents, toContractEvent } from './__fixtures__/agent-events.fixture.js';
import { Broker } from './__fixtures__/broker.fixture.js';
import { keepingLogger } from './__fixtures__/lines.fixture.js';
import { NatsServerFixture } from './__fixtures__/nats-server.fixture.js';
import {
  EventConsumer,
  EventRelay,
  NatsLink,
  type EventConsumerOptions,
  type ReceivedEvent,
} from './index.js';

const STREAM = 'EVT_AGENTS';
const PATIENTLY = { timeoutMs: 20_000 };

describe('an event consumer', () => {
  let infra: TestInfra;
  let nats: NatsServerFixture;
  let link: NatsLink;
  let store: EventStore;
  let database: Database;
  let broker: Broker;
  const { log, lines } = keepingLogger();
  const running: { controller: AbortController; done: Promise<void> }[] = [];
  let appended: string[] = [];
  let round = 0;

  beforeAll(async () => {
    infra = await startTestInfra({ parts: ['eventStore', 'postgres'] });
    store = connectEventStore({ url: infra.eventStoreUrl, log });
  });
  beforeEach(async () => {
    round++;
    nats = await NatsServerFixture.start();
    link = await NatsLink.open({ url: nats.url, name: 'consumer', log });
    broker = await Broker.of(link);
    database = await openDatabase({
      url: infra.databaseUrl,
      schema: `consumer${round}`,
      migrations: [],
      applicationName: 'test',
      log,
    });
    await database.query('CREATE TABLE effect (event_id text, agent text)');
    // All rounds share one log; each publishes its own streams.
    appended = [];
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map(({ controller, done }) => (controller.abort(), done)));
    await link.close();
    await nats.stop();
    await database.close();
  });
  afterAll(async () => {
    await store.close();
    await infra.stop();
  });

  const run = (work: (signal: AbortSignal) => Promise<void>): (() => Promise<void>) => {
    const controller = new AbortController();
    const done = work(controller.signal);
    running.push({ controller, done });
    return async () => {
      controller.abort();
      await done;
    };
  };

  const relay = (): (() => Promise<void>) =>
    run((signal) =>
      new EventRelay({
        store,
        link,
        database,
        context: 'agents',
        categories: ['agent'],
        toContractEvent: (event) =>
          event.stream.startsWith(`agent-r${round}x`) ? toContractEvent(event) : null,
        log,
      }).run(signal),
    );

  const consumer = (options: Partial<EventConsumerOptions> = {}): EventConsumer =>
    new EventConsumer({
      link,
      database,
      context: 'agents',
      durable: 'effects',
      filterSubjects: ['evt.agents.started.v1.*.*'],
      handle: noteEffect,
      log,
      backoffMs: [50],
      ...options,
    });

  const noteEffect: EventConsumerOptions['handle'] = async (event, tx) => {
    await tx.query('INSERT INTO effect (event_id, agent) VALUES ($1, $2)', [
      event.id,
      String(event.payload['agentId']),
    ]);
  };

  const consume = (options: Partial<EventConsumerOptions> = {}): (() => Promise<void>) =>
    run((signal) => consumer(options).run(signal));

  const append = async (count: number): Promise<void> => {
    appended.push(...(await appendAgents(store, `r${round}x${appended.length}x`, count)));
  };

  const effects = async (): Promise<string[]> =>
    (await database.query<{ event_id: string }>('SELECT event_id FROM effect')).map((row) => row.event_id);

  const allDoneOnce = (): Promise<unknown> =>
    eventually(async () => expect((await effects()).sort()).toEqual([...appended].sort()), PATIENTLY);

  it('handles what was there before it and what comes, in order, and only what it asked for', async () => {
    relay();
    await append(5);
    await store.append(`agent-r${round}xstopped`, [agentStarted('stopped', 'AgentStopped')], 'no_stream');
    const seen: ReceivedEvent[] = [];
    consume({ handle: (event, tx) => (seen.push(event), noteEffect(event, tx)) });
    await append(5);
    await allDoneOnce();
    expect(seen.map(({ id }) => id)).toEqual(appended);
    expect(seen[0]).toMatchObject({
      name: 'started',
      accountId: 'acc_1',
      context: 'agents',
      version: 1,
      delivery: 1,
    });
    expect(seen[0]?.subjectId).toBe(`r${round}x0x0`);
  });

  it('takes several filters', async () => {
    relay();
    const names: string[] = [];
    consume({
      filterSubjects: ['evt.agents.started.v1.*.*', 'evt.agents.stopped.v1.*.*'],
      handle: (event) => Promise.resolve(void names.push(event.name)),
    });
    await append(1);
    await store.append(`agent-r${round}xs`, [agentStarted('s', 'AgentStopped')], 'no_stream');
    await eventually(() => expect(names.sort()).toEqual(['started', 'stopped']), PATIENTLY);
  });

  it('rolls a failed effect back and has it again, until it is done once', async () => {
    relay();
    let failures = 0;
    consume({
      handle: async (event, tx) => {
        await noteEffect(event, tx);
        if (failures++ < 3) throw new Error('not yet');
      },
    });
    await append(1);
    await allDoneOnce();
    expect(failures).toBe(4);
  });

  it('changes nothing on a second delivery', async () => {
    relay();
    const stop = consume();
    await append(3);
    await allDoneOnce();
    await stop();
    // The broker forgets what was acknowledged: everything is delivered again.
    await broker.consumers.delete(STREAM, 'effects');
    await database.query('DELETE FROM event_consumer');
    consume();
    await append(1);
    await allDoneOnce();
  });

  it('shares the work with its other instances, each event done once', async () => {
    relay();
    consume();
    consume();
    await append(40);
    await allDoneOnce();
  });

  it('moves what fails again and again to the dead letters with its reason, and goes on', async () => {
    relay();
    let tries = 0;
    consume({
      handle: async (event, tx) => {
        if (event.id === appended[0]) {
          tries++;
          throw new Error('cannot: token=hunter2hunter2');
        }
        await noteEffect(event, tx);
      },
      maxDeliveries: 3,
    });
    await append(3);
    const [letter] = await eventually(async () => {
      const letters = await consumer().deadLetters();
      expect(letters).toHaveLength(1);
      return letters;
    }, PATIENTLY);
    expect(letter).toMatchObject({ durable: 'effects', eventId: appended[0], deliveries: 3 });
    expect(letter?.reason).toBe('Error: cannot: token=[redacted]');
    expect(letter?.payload).toContain('agentId');
    await eventually(
      async () => expect((await effects()).sort()).toEqual(appended.slice(1).sort()),
      PATIENTLY,
    );
    expect(tries).toBe(3);
    expect(lines.some((line) => line.includes('becomes a dead letter'))).toBe(true);
    await expect(consumer({ durable: 'others' }).deadLetters()).resolves.toEqual([]);
  });

  it('buries a message that is no event', async () => {
    relay();
    consume();
    await append(1);
    await allDoneOnce();
    link.connection.publish('evt.agents.started.v1.acc_1.agt_1', 'not json');
    await eventually(async () => expect(await consumer().deadLetters()).toHaveLength(1), PATIENTLY);
  });

  it('waits for its database without losing deliveries over it', async () => {
    relay();
    const deliveries: number[] = [];
    consume({
      maxDeliveries: 2,
      handle: (event, tx) => (deliveries.push(event.delivery), noteEffect(event, tx)),
    });
    await append(1);
    await allDoneOnce();
    infra.part('postgres').kill();
    await append(2);
    await eventually(() => database.ping(), PATIENTLY);
    await allDoneOnce();
    await expect(consumer().deadLetters()).resolves.toEqual([]);
  });

  it('does everything once across a broker that came back with an empty store', async () => {
    relay();
    consume();
    await append(5);
    await allDoneOnce();
    await nats.kill();
    await nats.wipe();
    await nats.resume();
    await append(3);
    await allDoneOnce();
  });

  it.each(['relay', 'consumer'] as const)(
    'does everything once when the broker lost the tail but remembers having delivered it, the %s first to find out',
    async (first) => {
      const stopRelay = relay();
      const stop = consume();
      await append(3);
      await allDoneOnce();
      const messages = join(nats.store, 'jetstream', '$G', 'streams', STREAM, 'msgs');
      const saved = join(nats.store, 'saved');
      await nats.kill('SIGTERM');
      await cp(messages, saved, { recursive: true });
      await nats.resume();
      await append(3);
      await allDoneOnce();
      await eventually(async () =>
        expect((await broker.consumers.info(STREAM, 'effects')).ack_floor.stream_seq).toBe(6),
      );
      await Promise.all([stop(), stopRelay()]);
      await nats.kill('SIGTERM');
      await rm(messages, { recursive: true });
      await cp(saved, messages, { recursive: true });
      await nats.resume();
      await eventually(() => link.connected);
      const damaged = await broker.consumers.info(STREAM, 'effects');
      expect(damaged.ack_floor.stream_seq).toBe(6);
      expect((await broker.streams.info(STREAM)).state.last_seq).toBe(3);
      if (first === 'relay') {
        relay();
        await eventually(async () => expect(await broker.ids(STREAM)).toEqual(appended), PATIENTLY);
        await expect(broker.consumers.info(STREAM, 'effects')).rejects.toThrow(/consumer not found/);
        consume();
      } else {
        consume();
        await eventually(async () => {
          expect((await broker.consumers.info(STREAM, 'effects')).created).not.toBe(damaged.created);
        }, PATIENTLY);
        relay();
      }
      await append(2);
      await allDoneOnce();
      expect(await broker.ids(STREAM)).toEqual(appended);
    },
  );

  it('does everything once when the stream or the consumer is deleted under it', async () => {
    relay();
    consume();
    await append(3);
    await allDoneOnce();
    await broker.consumers.delete(STREAM, 'effects');
    await append(2);
    await allDoneOnce();
    await broker.streams.delete(STREAM);
    await append(2);
    await allDoneOnce();
  });
});

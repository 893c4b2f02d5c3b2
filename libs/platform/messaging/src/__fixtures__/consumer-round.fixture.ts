import { connectEventStore, type EventStore } from '@berth/event-store';
import { openDatabase, type Database } from '@berth/persistence';
import { Supervisor } from '@berth/supervision';
import { eventually, startTestInfra, type InfraPart, type TestInfra } from '@berth/testing';
import { expect } from 'vitest';
import { appendAgents, toContractEvent } from './agent-events.fixture.js';
import { Broker } from './broker.fixture.js';
import { keepingLogger } from './lines.fixture.js';
import { NatsServerFixture } from './nats-server.fixture.js';
import { EventConsumer, EventRelay, NatsLink, type DeadLetter, type EventConsumerOptions } from '../index.js';

export const STREAM = 'berth_EVT_AGENTS';
export const PATIENTLY = { timeoutMs: 20_000 };

const { log, lines } = keepingLogger();

/** The effect in the tests: one row for each event. */
export const noteEffect: EventConsumerOptions['handle'] = async (event, tx) => {
  await tx.query('INSERT INTO effect (event_id, agent) VALUES ($1, $2)', [
    event.id,
    String(event.payload['agentId']),
  ]);
};

/** What one test needs: its own broker and database schema, and its own streams in the shared log. */
export class ConsumerRound {
  /** Ids of the public events that were appended, in log order. */
  readonly appended: string[] = [];
  readonly #running: (() => Promise<void>)[] = [];

  private constructor(
    readonly prefix: string,
    readonly nats: NatsServerFixture,
    readonly link: NatsLink,
    readonly broker: Broker,
    readonly database: Database,
    readonly store: EventStore,
  ) {}

  static async start(
    infra: Pick<TestInfra, 'databaseUrl' | 'eventStoreUrl'>,
    round: number,
  ): Promise<ConsumerRound> {
    const nats = await NatsServerFixture.start();
    const link = await NatsLink.open({ url: nats.url, name: 'consumer', log });
    const database = await openDatabase({
      url: infra.databaseUrl,
      schema: `consumer${round}`,
      migrations: [],
      applicationName: 'test',
      log,
    });
    await database.query('CREATE TABLE effect (event_id text, agent text)');
    const store = connectEventStore({ url: infra.eventStoreUrl, log });
    return new ConsumerRound(`r${round}x`, nats, link, await Broker.of(link), database, store);
  }

  static infra(own: readonly InfraPart[] = []): Promise<TestInfra> {
    return startTestInfra({ parts: ['eventStore', 'postgres'], own });
  }

  get lines(): readonly string[] {
    return lines;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#running.splice(0).map((stop) => stop()));
    await this.link.close();
    await this.nats.stop();
    await this.database.close();
    await this.store.close();
  }

  /** Starts the relay of this round's streams; returns a function that stops it. */
  relay(): () => Promise<void> {
    const { store, link, database, prefix } = this;
    const relay = new EventRelay({
      store,
      link,
      database,
      context: 'agents',
      categories: ['agent'],
      toContractEvent: (event) =>
        event.stream.startsWith(`agent-${prefix}`) ? toContractEvent(event) : null,
      log,
    });
    return this.#run((signal) => relay.run(signal));
  }

  consumer(options: Partial<EventConsumerOptions> = {}): EventConsumer {
    return new EventConsumer({
      link: this.link,
      database: this.database,
      store: this.store,
      context: 'agents',
      durable: 'effects',
      filterSubjects: ['evt.agents.started.v1.*.*'],
      handle: noteEffect,
      log,
      backoffMs: [50],
      ...options,
    });
  }

  async letters(options: Partial<EventConsumerOptions> = {}): Promise<readonly DeadLetter[]> {
    return (await this.consumer(options).deadLetters()).list();
  }

  /** Starts a consumer; returns a function that stops it. */
  consume(options: Partial<EventConsumerOptions> = {}): () => Promise<void> {
    const consumer = this.consumer(options);
    return this.#run((signal) => consumer.run(signal));
  }

  async append(count: number): Promise<void> {
    this.appended.push(...(await appendAgents(this.store, `${this.prefix}${this.appended.length}x`, count)));
  }

  async effects(): Promise<string[]> {
    const rows = await this.database.query<{ event_id: string }>('SELECT event_id FROM effect');
    return rows.map((row) => row.event_id).sort();
  }

  /** Waits until every appended event had its effect exactly once. */
  async allDoneOnce(timeoutMs = PATIENTLY.timeoutMs): Promise<void> {
    await eventually(async () => expect(await this.effects()).toEqual([...this.appended].sort()), {
      timeoutMs,
    });
  }

  #run(work: (signal: AbortSignal) => Promise<void>): () => Promise<void> {
    const supervisor = new Supervisor('test', log);
    supervisor.start('round', work);
    const stop = (): Promise<void> => supervisor.stop();
    this.#running.push(stop);
    return stop;
  }
}

import { connectEventStore, type EventStore } from '@berth/event-store';
import { EventConsumer, EventRelay, NatsLink, type ReceivedEvent } from '@berth/messaging';
import { openDatabase, type Database } from '@berth/persistence';
import { Supervisor } from '@berth/supervision';
import { createLogger } from '@berth/telemetry';
import { eventually, startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DeadLetterOperations } from './dead-letter-operations.js';
import { EventConsumers } from './event-consumers.js';

const log = createLogger({ service: 'test', level: 'silent' });

const idOf = (index: number): string => `00000000-0000-4000-8000-00000000000${index}`;

describe('the dead letters of a service', () => {
  let infra: TestInfra;
  let link: NatsLink;
  let database: Database;
  let store: EventStore;
  let operations: DeadLetterOperations;
  let broken = true;
  const handled: string[] = [];
  const supervisor = new Supervisor('test', log);

  const consumer = (durable: string): EventConsumer =>
    new EventConsumer({
      store,
      link,
      database,
      context: 'agents',
      durable,
      filterSubjects: ['evt.agents.deleted.v1.>'],
      handle: ({ id }: ReceivedEvent): Promise<void> => {
        if (broken)
          return Promise.reject(new Error('mk_000000000000000000000000000000000000000000000000a is down'));
        handled.push(id);
        return Promise.resolve();
      },
      log,
      maxDeliveries: 1,
    });

  beforeAll(async () => {
    infra = await startTestInfra({ parts: ['nats', 'eventStore', 'postgres'] });
    link = await NatsLink.open({ url: infra.natsUrl, name: 'desk', log });
    store = connectEventStore({ url: infra.eventStoreUrl, log });
    const options = { url: infra.databaseUrl, schema: 'desk', migrations: [], applicationName: 'test', log };
    database = await openDatabase(options);
    const consumers = [consumer('b'), consumer('a')];
    operations = new DeadLetterOperations('exec', new EventConsumers(consumers), log);
    const relay = new EventRelay({
      store,
      link,
      database,
      context: 'agents',
      categories: ['agent'],
      toContractEvent: ({ stream }) => ({
        subject: `evt.agents.deleted.v1.acc_1.${stream.slice('agent-'.length)}`,
        payload: { name: 'Ada Lovelace' },
      }),
      log,
    });
    for (let index = 0; index < 3; index++) {
      const metadata = {
        correlationId: 'r',
        causationId: 'c',
        accountId: 'acc_1',
        actor: { kind: 'system', id: 't' },
      } as const;
      const event = { id: idOf(index), type: 'AgentDeleted', data: {}, metadata };
      await store.append(`agent-agt_${index}`, [event], 'no_stream');
    }
    for (const one of [relay, ...consumers]) supervisor.start('work', (signal) => one.run(signal));
    await eventually(async () => expect(await operations.count()).toBe(6), { timeoutMs: 20_000 });
  });
  afterAll(async () => {
    await supervisor.stop();
    await link.close();
    await database.close();
    await store.close();
    await infra.stop();
  });

  const all = () => operations.list({ cursor: null, limit: 200 });

  it('are listed by consumer, oldest first, without payload and secrets', async () => {
    const { items, nextCursor } = await all();
    expect(nextCursor).toBeNull();
    expect(items.map(({ consumer: name, eventId }) => `${name} ${eventId}`)).toEqual(
      ['a', 'b'].flatMap((name) => [0, 1, 2].map((index) => `${name} ${idOf(index)}`)),
    );
    expect(items[0]).toEqual({
      id: expect.stringMatching(/^dlt_[A-Za-z0-9_-]+$/) as string,
      service: 'exec',
      consumer: 'a',
      eventId: idOf(0),
      subject: 'evt.agents.deleted.v1.acc_1.agt_0',
      reason: expect.stringMatching(/^Error: .*is down$/) as string,
      deliveries: 1,
      at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    });
    expect(JSON.stringify(items)).not.toMatch(/Lovelace|mk_0/);
  });

  it.each([1, 2, 3, 4, 5, 6])('are listed completely in pages of %i', async (limit) => {
    const { items } = await all();
    const paged = [];
    for (let cursor: string | null = null, pages = 0; pages === 0 || cursor !== null; pages++) {
      const page = await operations.list({ cursor, limit });
      expect(page.items.length).toBeLessThanOrEqual(limit);
      paged.push(...page.items);
      cursor = page.nextCursor;
    }
    expect(paged).toEqual(items);
  });

  it('are not found by an unknown id', async () => {
    const known = (await all()).items[0]?.id ?? '';
    const foreign = `dlt_${Buffer.from('a/*').toString('base64url')}`;
    for (const id of ['', 'nope', 'dlt_', `${known}x`, foreign, known.slice(0, -4)]) {
      await expect(operations.replay(id), id).rejects.toMatchObject({ code: 'dead_letter_not_found' });
      await expect(operations.delete(id), id).rejects.toMatchObject({ code: 'dead_letter_not_found' });
    }
    await expect(operations.count()).resolves.toBe(6);
  });

  it('are removed when they are deleted or when their event was handled', async () => {
    const [first, second] = (await all()).items;
    await operations.delete(first?.id ?? '');
    broken = false;
    await operations.replay(second?.id ?? '');
    expect(handled).toEqual([idOf(1)]);
    await expect(operations.replay(second?.id ?? '')).rejects.toMatchObject({
      code: 'dead_letter_not_found',
    });
    expect(handled).toEqual([idOf(1)]);
    await expect(operations.count()).resolves.toBe(4);
  });
});

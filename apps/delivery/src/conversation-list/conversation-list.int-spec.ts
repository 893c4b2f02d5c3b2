import { EventStreams, connectEventStore, ProjectionRunner, type EventStore } from '@berth/event-store';
import { newId } from '@berth/kernel';
import { openDatabase, type Database } from '@berth/persistence';
import { Supervisor } from '@berth/supervision';
import { createLogger } from '@berth/telemetry';
import { eventually, startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliveryDecider, type DeliveryCommand } from '../delivery/delivery.decider.js';
import { deliveryCodec } from '../delivery/delivery.events.js';
import type { Delivery, DeliveryEvent } from '../delivery/delivery.js';
import { MessageBudget } from '../delivery/message-budget.js';
import { migrations } from '../migrations/index.js';
import { ForgetConversationsWhenAgentIsGone } from '../react/forget-conversations-when-agent-is-gone.js';
import { RecipientStreams } from '../recipient/recipient.streams.js';
import { conversationListProjection } from './conversation-list.projection.js';
import { ConversationListQuery } from './conversation-list.query.js';

const log = createLogger({ service: 'test', level: 'silent' });

describe('the conversation list', () => {
  let infra: TestInfra;
  let database: Database;
  let store: EventStore;
  let runner: ProjectionRunner;
  let query: ConversationListQuery;
  let deliveries: EventStreams<Delivery, DeliveryCommand, DeliveryEvent>;
  const supervisor = new Supervisor('test', log);

  beforeAll(async () => {
    infra = await startTestInfra({ parts: ['eventStore', 'postgres'] });
    database = await openDatabase({
      url: infra.databaseUrl,
      schema: 'delivery',
      migrations,
      applicationName: 'conversation-list-test',
      log,
    });
    store = connectEventStore({ url: infra.eventStoreUrl, log });
    runner = new ProjectionRunner({ store, database, projection: conversationListProjection, log });
    deliveries = new EventStreams({ store, decider: deliveryDecider, codec: deliveryCodec });
    query = new ConversationListQuery(database, { lostAfterSeconds: 900 });
    supervisor.start('projection', (signal) => runner.run(signal));
    await runner.untilCaughtUp();
  });

  afterAll(async () => {
    await supervisor.stop();
    await Promise.all([store.close(), database.close()]);
    await infra.stop();
  });

  const origin = (): { commandId: string; accountId: string; actor: { kind: 'system'; id: string } } => ({
    commandId: newId('cmd'),
    accountId: 'acc_1',
    actor: { kind: 'system', id: 'test' },
  });

  const message = async (
    agentId: string,
    conversationId: string,
    end: 'Answer' | 'Fail' | null,
  ): Promise<void> => {
    const deliveryId = newId('dlv');
    const at = new Date().toISOString();
    const accept = {
      type: 'Accept',
      deliveryId,
      agentId,
      conversationId,
      kind: 'chat',
      messageLength: 3,
      at,
    } as const;
    let { position } = await deliveries.handle(deliveryId, accept, origin());
    if (end === 'Answer')
      position = (await deliveries.handle(deliveryId, { type: 'Answer', responseLength: 4, at }, origin()))
        .position;
    if (end === 'Fail')
      position = (await deliveries.handle(deliveryId, { type: 'Fail', code: 'agent_error', at }, origin()))
        .position;
    expect(await runner.waitFor(position ?? 0n, 10_000)).toBe(true);
  };

  const everything = async (): Promise<unknown> => ({
    conversations: await database.query('SELECT * FROM conversation ORDER BY agent_id, id'),
    deliveries: await database.query('SELECT * FROM delivery ORDER BY id'),
  });

  const forget = (agentId: string, eventId: string): Promise<void> =>
    new ForgetConversationsWhenAgentIsGone(new RecipientStreams(store)).handle({
      id: eventId,
      context: 'agents',
      name: 'deleted',
      version: 1,
      accountId: 'acc_1',
      subjectId: agentId,
      subject: `evt.agents.deleted.v1.acc_1.${agentId}`,
      payload: {
        agentId,
        accountId: 'acc_1',
        externalUserId: null,
        state: 'deleting',
        epoch: 1,
        at: new Date().toISOString(),
      },
      position: 0n,
      recordedAt: new Date(),
      delivery: 1,
    });

  it('has the conversation that last received a message, even if the message failed', async () => {
    const agentId = newId('agt');
    expect(await query.current(agentId)).toBeNull();
    await message(agentId, 'one', 'Answer');
    await message(agentId, 'two', 'Fail');
    expect(await query.current(agentId)).toBe('two');
    await message(agentId, 'one', null);
    expect(await query.current(agentId)).toBe('one');
  });

  it('forgets a deleted agent once, however often the event arrives', async () => {
    const agentId = newId('agt');
    await message(agentId, 'one', 'Answer');
    const eventId = crypto.randomUUID();
    await forget(agentId, eventId);
    await forget(agentId, eventId);
    await eventually(async () => expect(await query.current(agentId)).toBeNull());
    expect(await store.read(`recipient-${agentId}`)).toHaveLength(1);
  });

  it('is identical row by row after a rebuild from the log', async () => {
    const agentIds = [newId('agt'), newId('agt'), newId('agt')];
    const ends = ['Answer', 'Fail', null] as const;
    for (let n = 0; n < 30; n++) {
      await message(agentIds[n % 3] ?? '', `conversation ${String(n % 7)}`, ends[n % 3] ?? null);
    }
    await forget(agentIds[2] ?? '', crypto.randomUUID());
    await eventually(async () => expect(await query.current(agentIds[2] ?? '')).toBeNull());
    const before = await everything();
    await runner.rebuild(() => undefined, new AbortController().signal);
    expect(await everything()).toEqual(before);
  });

  it('admits exactly the budgeted number of messages per minute, also in parallel', async () => {
    const budget = new MessageBudget(database, { messagesPerMinute: 20 });
    const agentId = newId('agt');
    const minute = (): number => Math.floor(Date.now() / 60_000);
    const begun = minute();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, () => budget.take(agentId, newId('dlv'))),
    );
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    // A minute that ends during the test resets the count.
    if (minute() === begun) expect(refused).toHaveLength(30);
    for (const { reason } of refused) {
      expect(reason).toMatchObject({
        code: 'rate_limited',
        context: { retryAfterSeconds: expect.any(Number) },
      });
    }
  });
});

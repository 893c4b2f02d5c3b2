import { agentsRequests } from '@berth/contracts/agents';
import { runtimeRequests, type FoundDelivery } from '@berth/contracts/runtime';
import { DomainError, newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ConversationListQuery } from '../conversation-list/conversation-list.query.js';
import { DeliveryCommandHandler } from '../delivery/delivery.command-handler.js';
import { DeliveryStreams } from '../delivery/delivery.streams.js';
import { MessageBudget } from '../delivery/message-budget.js';
import { MessageJournal } from '../delivery/message-journal.js';
import { silent } from '../fixtures/fake-services.fixture.js';
import { envelope, ServedDelivery } from '../fixtures/served-delivery.fixture.js';
import { LostDeliveries } from './lost-deliveries.js';

let delivery: ServedDelivery;

beforeAll(async () => {
  delivery = await ServedDelivery.start(1_000);
});
afterAll(() => delivery.stop());
beforeEach(() => delivery.fakes.reset());

/** Appends the events of a process that dies before it records an outcome. */
const abandon = async (agentId = newId('agt')): Promise<string> => {
  const { store } = delivery;
  const deliveries = new DeliveryStreams(store);
  const deliveryId = newId('dlv');
  const accept = { type: 'Accept', deliveryId, agentId, conversationId: 'c', kind: 'chat' } as const;
  const at = new Date().toISOString();
  await deliveries.handle(deliveryId, { ...accept, messageLength: 2, at }, envelope());
  return deliveryId;
};

/** Ends the lost deliveries; here every open delivery counts as lost. */
const endLost = (deliveryIds: readonly string[]): Promise<void> =>
  delivery.withDatabase(async (database) => {
    const { store, requester } = delivery;
    const query = new ConversationListQuery(database, { lostAfterSeconds: 0 });
    await eventually(async () => {
      const listed = (await query.lost(null, 1_000)).map(({ id }) => id);
      expect(listed).toEqual(expect.arrayContaining([...deliveryIds]));
    });
    const deliveries = new DeliveryStreams(store);
    const list = { waitFor: () => Promise.resolve(true) };
    const lost = new LostDeliveries(
      store,
      new DeliveryCommandHandler(deliveries, list),
      query,
      new MessageJournal(requester),
      new MessageBudget(database, { messagesPerMinute: 1 }),
      silent,
    );
    await lost.endLost(new AbortController().signal);
  });

const endOf = async (deliveryId: string) => (await delivery.history(deliveryId))[1];

describe('a delivery without a recorded outcome', () => {
  it.each<[FoundDelivery, string, object]>([
    [{ state: 'answered', response: 'hello' }, 'MessageAnswered', { responseLength: 5 }],
    [
      { state: 'failed', kind: 'upstream', code: 'agent_error', message: 'No.' },
      'MessageFailed',
      { code: 'agent_error' },
    ],
    [{ state: 'open' }, 'MessageFailed', { code: 'delivery_lost' }],
    [{ state: 'absent' }, 'MessageFailed', { code: 'delivery_lost' }],
  ])('ends with the outcome in the journal of the agent: %j', async (found, type, data) => {
    delivery.fakes.on(runtimeRequests.findDelivery, () => found);
    const deliveryId = await abandon();
    await endLost([deliveryId]);
    expect(await endOf(deliveryId)).toMatchObject({ type, data });
    const [, end] = await delivery.store.read(`delivery-${deliveryId}`);
    expect(end?.metadata.accountId).toBe(envelope().accountId);
    expect(delivery.fakes.requestsOf(agentsRequests.ensureAwake)).toEqual([]);
  });

  it('is lost when its agent was deleted', async () => {
    delivery.fakes.on(agentsRequests.locate, () => {
      throw new DomainError('not_found', 'agent_not_found', 'Gone.');
    });
    const deliveryId = await abandon();
    await endLost([deliveryId]);
    expect(await endOf(deliveryId)).toMatchObject({ data: { code: 'delivery_lost' } });
  });

  it('stays open while the host of its agent is unavailable, and delays no other', async () => {
    const away = newId('agt');
    delivery.fakes.on(agentsRequests.locate, ({ agentId }) => ({
      host: agentId === away ? 'nowhere' : 'host1',
      guest: { version: '1', capabilities: [] },
    }));
    const waits = await abandon(away);
    const ends = await abandon();
    await endLost([waits, ends]);
    expect(await delivery.history(waits)).toHaveLength(1);
    expect(await endOf(ends)).toMatchObject({ data: { code: 'delivery_lost' } });
  });
});

import { agentsRequests } from '@berth/contracts/agents';
import { handOverRequests, type HandOver } from '@berth/contracts/delivery';
import { runtimeRequests } from '@berth/contracts/runtime';
import { DomainError, newId, type Effect, type ErrorKind } from '@berth/kernel';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { envelope, ServedDelivery } from '../fixtures/served-delivery.fixture.js';

const PER_MINUTE = 2;

let delivery: ServedDelivery;

beforeAll(async () => {
  delivery = await ServedDelivery.start(PER_MINUTE);
});
afterAll(() => delivery.stop());
beforeEach(() => delivery.fakes.reset());

const request = (more: Partial<HandOver> = {}): HandOver => ({
  ...envelope(),
  agentId: newId('agt'),
  deliveryId: newId('dlv'),
  message: 'Water the plants.',
  conversationId: 'schedule-plants',
  source: 'schedule',
  ...more,
});
const handOver = (sent: HandOver) => delivery.requester.request(handOverRequests.handOver, sent);
const failing = (kind: ErrorKind, code: string, effect?: Effect) => (): never => {
  throw new DomainError(kind, code, 'No.', {}, effect === undefined ? {} : { effect });
};
const delivered = () => delivery.fakes.requestsOf(runtimeRequests.deliver);

describe('a message that no caller waits for', () => {
  it('is handed to the program with its source, and leaves the current conversation as it is', async () => {
    const sent = request({ source: 'webhook', conversationId: 'webhook', contentType: 'text/plain' });
    expect(await handOver(sent)).toEqual({ outcome: 'handed_over' });
    const { agentId, deliveryId, message } = sent;
    expect(delivered()).toEqual([
      {
        ...{ agentId, deliveryId, message, epoch: 1 },
        ...{ conversationId: 'webhook', source: 'webhook', contentType: 'text/plain' },
      },
    ]);
    expect(delivery.fakes.requestsOf(agentsRequests.ensureAwake)[0]).toMatchObject({ kind: 'webhook' });
    await delivery.withDatabase(async (database) => {
      expect(await database.query('SELECT 1 FROM conversation WHERE agent_id = $1', [agentId])).toEqual([]);
    });
  });

  it.each<[string, ErrorKind, object]>([
    ['delivery_declined', 'unavailable', { outcome: 'declined' }],
    ['agent_error', 'upstream', { outcome: 'failed', code: 'agent_error', message: 'No.' }],
    ['chat_unsupported', 'unsupported', { outcome: 'failed', code: 'chat_unsupported', message: 'No.' }],
    ['agent_timeout', 'timeout', { outcome: 'failed', code: 'agent_timeout' }],
    ['delivery_outcome_unknown', 'unavailable', { outcome: 'failed', code: 'agent_error' }],
  ])('ends as its host reports: %s', async (code, kind, outcome) => {
    const effect = code === 'delivery_declined' ? 'none' : 'unknown';
    const effects = kind === 'unavailable' || kind === 'timeout' ? [effect] : [];
    delivery.fakes.on(runtimeRequests.deliver, failing(kind, code, ...(effects as Effect[])));
    expect(await handOver(request())).toMatchObject(outcome);
  });

  it('was not handed over if the agent cannot be woken, with the reason', async () => {
    delivery.fakes.on(agentsRequests.ensureAwake, failing('conflict', 'agent_stopped'));
    await expect(handOver(request())).rejects.toMatchObject({ code: 'agent_stopped' });
    expect(delivered()).toEqual([]);
  });

  it('takes one message from the budget of the agent, however often it is sent, unless it was counted before', async () => {
    const first = request();
    const next = (more: Partial<HandOver> = {}) => request({ agentId: first.agentId, ...more });
    await handOver(first);
    await handOver({ ...first, ...envelope() });
    await handOver(next());
    await expect(handOver(next())).rejects.toMatchObject({ code: 'rate_limited' });
    expect(await handOver(next({ counted: true }))).toEqual({ outcome: 'handed_over' });
  });
});

describe('a message that an earlier attempt may have handed over', () => {
  it('has the outcome that the journal of the agent has, and wakes no agent', async () => {
    for (const [found, outcome] of [
      [{ state: 'answered', response: '' }, { outcome: 'handed_over' }],
      [
        { state: 'failed', kind: 'upstream', code: 'agent_error', message: 'Out of words.' },
        { outcome: 'failed', code: 'agent_error', message: 'Out of words.' },
      ],
    ] as const) {
      delivery.fakes.on(runtimeRequests.findDelivery, () => found);
      expect(await handOver(request({ repeated: true }))).toEqual(outcome);
    }
    expect(delivery.fakes.requestsOf(agentsRequests.ensureAwake)).toEqual([]);
  });

  it('has failed if the program took it and its agent has ended since', async () => {
    delivery.fakes.on(agentsRequests.ensureAwake, failing('conflict', 'agent_stopped'));
    delivery.fakes.on(runtimeRequests.findDelivery, () => ({ state: 'open' }));
    expect(await handOver(request({ repeated: true }))).toMatchObject({ code: 'agent_error' });
    delivery.fakes.on(runtimeRequests.findDelivery, () => ({ state: 'absent' }));
    await expect(handOver(request({ repeated: true }))).rejects.toMatchObject({ code: 'agent_stopped' });
  });
});

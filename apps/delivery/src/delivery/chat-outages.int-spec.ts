import { setTimeout as sleep } from 'node:timers/promises';
import { agentsRequests } from '@berth/contracts/agents';
import { deliveryRequests, type Chat } from '@berth/contracts/delivery';
import { runtimeRequests } from '@berth/contracts/runtime';
import { deriveId, DomainError, newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { awakeAt } from '../fixtures/fake-services.fixture.js';
import { envelope, ServedDelivery } from '../fixtures/served-delivery.fixture.js';

/** The API guarantees a 503 within this time. */
const UNAVAILABLE_WITHIN_MS = 5_000;
/** Together with the 3.5 s after which a request counts as lost, more than `UNAVAILABLE_WITHIN_MS`. */
const LOST_MS = 2_000;

let delivery: ServedDelivery;

beforeAll(async () => {
  delivery = await ServedDelivery.start(1_000);
});
afterAll(() => delivery.stop());
beforeEach(async () => {
  delivery.lines.log.restore();
  delivery.lines.tables.restore();
  delivery.lines.fakes.restore();
  delivery.lines.broker.restore();
  delivery.fakes.reset();
  // Wait until the connections that the previous test cut work again.
  await eventually(() => send(aChat()), { timeoutMs: 30_000 });
  delivery.fakes.reset();
});

const aChat = (): Chat => ({
  ...envelope(),
  agentId: newId('agt'),
  message: 'hi',
  conversationId: null,
});
const send = (chat: Chat) => delivery.requester.request(deliveryRequests.chat, chat);
const received = () => delivery.fakes.guest.received;
const types = async (chat: Chat) =>
  (await delivery.history(deriveId('dlv', chat.commandId))).map(({ type }) => type);
/** Returns the error of a chat, and checks that it came in time. */
const refusal = async (chat: Chat): Promise<unknown> => {
  const begun = performance.now();
  const error = await send(chat).catch((failure: unknown) => failure);
  expect(performance.now() - begun).toBeLessThan(UNAVAILABLE_WITHIN_MS);
  return error;
};

describe('a chat', () => {
  it('returns its answer if the log fails after the agent answered, and is recorded once the log is back', async () => {
    const chat = aChat();
    delivery.fakes.guest.runs(() => {
      delivery.lines.log.cut({ refuse: true });
      return 'in time';
    });
    expect(await send(chat)).toMatchObject({ response: 'in time' });
    expect(received()).toHaveLength(1);
    delivery.lines.log.restore();
    await eventually(async () => expect(await types(chat)).toEqual(['MessageAccepted', 'MessageAnswered']), {
      timeoutMs: 20_000,
    });
    expect(received()).toHaveLength(1);
  });

  it('that fails in the agent returns the error of the agent if the log fails in the meantime', async () => {
    const chat = aChat();
    delivery.fakes.guest.runs(() => {
      delivery.lines.log.cut({ refuse: true });
      throw new DomainError('upstream', 'agent_error', 'I forgot how.');
    });
    expect(await refusal(chat)).toMatchObject({ code: 'agent_error', message: 'I forgot how.' });
    delivery.lines.log.restore();
    await eventually(async () => expect(await types(chat)).toEqual(['MessageAccepted', 'MessageFailed']), {
      timeoutMs: 20_000,
    });
  });

  it.each([
    ['the log refuses', () => delivery.lines.log.cut({ refuse: true })],
    ['the log is silent', () => delivery.lines.log.freeze()],
    ['the tables refuse', () => delivery.lines.tables.cut({ refuse: true })],
    ['the tables are silent', () => delivery.lines.tables.freeze()],
  ])('is 503 within 5 s when %s, and is not delivered', async (_, fail) => {
    fail();
    expect(await refusal(aChat())).toMatchObject({ kind: 'unavailable', code: 'service_unavailable' });
    expect(received()).toEqual([]);
  });

  it('is 503 within 5 s when several dependencies are slow, each within its own limit', async () => {
    delivery.fakes.on(agentsRequests.ensureAwake, async (request) => {
      await sleep(2_500);
      return awakeAt(1, request);
    });
    delivery.lines.log.freeze();
    expect(await refusal(aChat())).toMatchObject({ kind: 'unavailable', code: 'service_unavailable' });
    expect(received()).toEqual([]);
  });

  it('is not delivered after its 503, even if the log accepts it late', async () => {
    const chat = aChat();
    delivery.lines.log.holdResponses();
    await refusal(chat);
    delivery.lines.log.thaw();
    await eventually(async () => expect(await types(chat)).toContain('MessageAccepted'));
    await send(aChat());
    expect(received().map(({ deliveryId }) => deliveryId)).not.toContain(deriveId('dlv', chat.commandId));
  });

  it('is 503 within 5 s when the service agents does not respond', async () => {
    delivery.fakes.on(agentsRequests.ensureAwake, () => new Promise<never>(() => undefined));
    expect(await refusal(aChat())).toMatchObject({ kind: 'unavailable', code: 'service_unavailable' });
  });

  it('whose host does not exist is 503 within 5 s, and certainly not delivered', async () => {
    delivery.fakes.on(agentsRequests.ensureAwake, (request) => ({ ...awakeAt(1, request), host: 'nowhere' }));
    const error = await refusal(aChat());
    expect(error).toMatchObject({ kind: 'unavailable', code: 'agent_unavailable' });
    expect(error).toHaveProperty('effect', 'none');
  });

  it('is 503 within 5 s if its wake is lost once, and its delivery every time', async () => {
    delivery.fakes.on(agentsRequests.ensureAwake, (request) => {
      if (request.asleep !== 'refuse') {
        delivery.lines.fakes.holdResponses();
        return awakeAt(1, request);
      }
      delivery.lines.fakes.holdResponses();
      setTimeout(() => delivery.lines.fakes.thaw(), LOST_MS);
      throw new DomainError('conflict', 'agent_asleep', 'Asleep.');
    });
    expect(await refusal(aChat())).toMatchObject({ kind: 'unavailable', code: 'agent_unavailable' });
    expect(delivery.fakes.requestsOf(agentsRequests.ensureAwake).length).toBeGreaterThanOrEqual(2);
  });

  it('is 503 within 5 s if the chat itself is lost once, and its delivery every time', async () => {
    delivery.fakes.on(agentsRequests.ensureAwake, (request) => {
      delivery.lines.fakes.holdResponses();
      return awakeAt(1, request);
    });
    delivery.lines.broker.holdResponses();
    setTimeout(() => delivery.lines.broker.thaw(), LOST_MS);
    expect(await refusal(aChat())).toMatchObject({ kind: 'unavailable', code: 'agent_unavailable' });
    expect(delivery.fakes.requestsOf(agentsRequests.ensureAwake)).not.toEqual([]);
  });

  it('that is sent twice returns its answer, even if a request of the second copy is lost', async () => {
    let looked = 0;
    delivery.fakes.on(agentsRequests.ensureAwake, (request) =>
      ++looked === 1 ? awakeAt(1, request) : new Promise<never>(() => undefined),
    );
    delivery.fakes.on(runtimeRequests.deliver, async (message) => {
      await sleep(UNAVAILABLE_WITHIN_MS);
      return delivery.fakes.guest.deliver(message);
    });
    delivery.lines.broker.holdResponses();
    setTimeout(() => delivery.lines.broker.thaw(), LOST_MS);
    expect(await send(aChat())).toMatchObject({ response: 'heard hi' });
    expect(received()).toHaveLength(1);
  });

  it('whose response was lost by the host is sent again, and returns the response of its first delivery', async () => {
    let lost = false;
    delivery.fakes.on(runtimeRequests.deliver, async (message) => {
      const delivered = await delivery.fakes.guest.deliver(message);
      if (lost) return delivered;
      lost = true;
      throw new DomainError('unavailable', 'service_unavailable', 'Gone.');
    });
    expect(await send(aChat())).toMatchObject({ response: 'heard hi' });
    expect(received()).toHaveLength(1);
  });

  it('has an unknown outcome when its host fails after it may have received the message', async () => {
    delivery.fakes.on(runtimeRequests.deliver, () => {
      throw new DomainError('unavailable', 'agent_unavailable', 'Put to rest.');
    });
    expect(await refusal(aChat())).toMatchObject({
      code: 'agent_unavailable',
      effect: 'unknown',
    });
  });

  it('that waits for a wake longer than other dependencies may take succeeds', async () => {
    delivery.fakes.on(agentsRequests.ensureAwake, async (request) => {
      if (request.asleep === 'refuse') throw new DomainError('conflict', 'agent_asleep', 'Asleep.');
      await sleep(UNAVAILABLE_WITHIN_MS);
      return awakeAt(1, request);
    });
    expect(await send(aChat())).toMatchObject({ response: 'heard hi' });
  });
});

import { agentsRequests, type EnsureAwake } from '@berth/contracts/agents';
import type { AwakeAgent } from '@berth/contracts/hosting';
import { deliveryRequests, type Chat } from '@berth/contracts/delivery';
import { runtimeRequests, type DeliverMessage } from '@berth/contracts/runtime';
import { deriveId, DomainError, newId, type Effect, type ErrorKind } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { awakeAt } from '../fixtures/fake-services.fixture.js';
import { envelope, ServedDelivery } from '../fixtures/served-delivery.fixture.js';

const PER_MINUTE = 1_000;

let delivery: ServedDelivery;

beforeAll(async () => {
  delivery = await ServedDelivery.start(PER_MINUTE);
});
afterAll(() => delivery.stop());
beforeEach(() => delivery.fakes.reset());

const refusing = (kind: ErrorKind, code: string, effect?: Effect) => (): never => {
  throw new DomainError(kind, code, 'No.', {}, effect === undefined ? {} : { effect });
};
const aChat = (members: Partial<Chat> = {}): Chat => ({
  ...envelope(),
  agentId: newId('agt'),
  message: 'hi',
  conversationId: null,
  ...members,
});
const send = (chat: Chat) => delivery.requester.request(deliveryRequests.chat, chat);
const again = (chat: Chat) => send({ ...chat, repeated: true });
const idOf = ({ commandId }: Chat): string => deriveId('dlv', commandId);
const received = (): readonly DeliverMessage[] => delivery.fakes.guest.received;
const ends = (chat: Chat, ...types: readonly string[]) =>
  eventually(async () => {
    const history = await delivery.history(idOf(chat));
    expect(history.map(({ type }) => type)).toEqual(types);
    return history;
  });
/** The agent sleeps; waking it behaves like `wake`. */
const asleep = (wake: (request: EnsureAwake) => AwakeAgent | Promise<AwakeAgent>): void =>
  delivery.fakes.on(agentsRequests.ensureAwake, (request) =>
    request.asleep === 'refuse' ? refusing('conflict', 'agent_asleep')() : wake(request),
  );
/** Leaves the state of an attempt that never reached the agent's host. */
const acceptedOnly = async (chat: Chat): Promise<void> => {
  delivery.fakes.on(runtimeRequests.deliver, refusing('unavailable', 'agent_unavailable', 'none'));
  await expect(send(chat)).rejects.toMatchObject({ code: 'agent_unavailable' });
  await ends(chat, 'MessageAccepted', 'MessageFailed');
  delivery.fakes.on(runtimeRequests.deliver, (message) => delivery.fakes.guest.deliver(message));
};

describe('a chat that is sent again with the same command id', () => {
  it('is delivered once, and returns the first response in the first conversation', async () => {
    const chat = aChat();
    const first = await send(chat);
    expect([await send(chat), await again(chat)]).toEqual([first, first]);
    expect(received()).toHaveLength(1);
    await ends(chat, 'MessageAccepted', 'MessageAnswered');
  });

  it('stays in the conversation that its first attempt opened, although another one is current', async () => {
    const chat = aChat();
    await acceptedOnly(chat);
    await send(aChat({ agentId: chat.agentId, conversationId: 'another' }));
    const { conversationId } = await again(chat);
    expect(conversationId).toBe(deriveId('cnv', chat.commandId));
    expect(received().map((message) => message.conversationId)).toEqual(['another', conversationId]);
  });

  it('is delivered by the second attempt if the first did not deliver it, and is then recorded as answered', async () => {
    const chat = aChat();
    await acceptedOnly(chat);
    expect(await again(chat)).toMatchObject({ response: 'heard hi' });
    expect(received()).toMatchObject([{ deliveryId: idOf(chat) }]);
    await ends(chat, 'MessageAccepted', 'MessageFailed', 'MessageAnswered');
  });

  it('returns the first response although the agent has fallen asleep, and leaves it asleep', async () => {
    const chat = aChat();
    const first = await send(chat);
    await ends(chat, 'MessageAccepted', 'MessageAnswered');
    delivery.fakes.on(agentsRequests.ensureAwake, refusing('conflict', 'agent_stopped'));
    expect([await again(chat), await send(chat)]).toEqual([first, first]);
    expect(received()).toHaveLength(1);
  });

  it('and whose answer is no longer stored is refused, and not delivered again', async () => {
    const chat = aChat();
    await send(chat);
    await ends(chat, 'MessageAccepted', 'MessageAnswered');
    delivery.fakes.guest.forgetAnswers();
    const gone = { kind: 'conflict', code: 'idempotency_answer_gone', effect: 'unknown' };
    await expect(again(chat)).rejects.toMatchObject(gone);
    await expect(send(chat)).rejects.toMatchObject(gone);
    expect(received()).toHaveLength(1);
  });

  it('and failed returns the same failure', async () => {
    const chat = aChat();
    const failure = { kind: 'upstream', code: 'agent_error', message: 'I forgot how.' } as const;
    delivery.fakes.guest.runs(() => {
      throw new DomainError(failure.kind, failure.code, failure.message);
    });
    await expect(send(chat)).rejects.toMatchObject(failure);
    await ends(chat, 'MessageAccepted', 'MessageFailed');
    await expect(again(chat)).rejects.toMatchObject({ ...failure, effect: 'final' });
    await expect(send(chat)).rejects.toMatchObject({ ...failure, effect: 'final' });
    expect(received()).toHaveLength(1);
  });

  it('and fails in its second attempt has that failure as its outcome', async () => {
    const chat = aChat();
    await acceptedOnly(chat);
    delivery.fakes.guest.runs(() => {
      throw new DomainError('upstream', 'agent_error', 'I forgot how.');
    });
    await expect(again(chat)).rejects.toMatchObject({ code: 'agent_error', effect: 'final' });
    await ends(chat, 'MessageAccepted', 'MessageFailed', 'MessageFailed');
  });

  it('had no effect if its first attempt was refused before it was accepted', async () => {
    delivery.fakes.on(agentsRequests.ensureAwake, refusing('unavailable', 'agent_unavailable'));
    const chat = aChat();
    await expect(send(chat)).rejects.toMatchObject({ code: 'agent_unavailable', effect: 'none' });
    expect(await delivery.history(idOf(chat))).toEqual([]);
  });

  it('has an unknown outcome while its first attempt may have reached a host that is now unavailable', async () => {
    const chat = aChat();
    await acceptedOnly(chat);
    delivery.fakes.on(agentsRequests.ensureAwake, refusing('conflict', 'agent_stopped'));
    const unknown = { code: 'agent_unavailable', effect: 'unknown' };
    await expect(again(chat)).rejects.toMatchObject(unknown);
  });

  it('and is refused is not delivered later by its first attempt', async () => {
    const chat = aChat();
    const open = Promise.withResolvers<void>();
    asleep(async (request) => {
      await open.promise;
      return awakeAt(1, request);
    });
    const first = send(chat);
    await eventually(() => delivery.fakes.requestsOf(agentsRequests.ensureAwake).length === 2);
    delivery.fakes.on(agentsRequests.ensureAwake, refusing('conflict', 'agent_stopped'));
    await expect(again(chat)).rejects.toMatchObject({ code: 'agent_stopped' });
    open.resolve();
    await expect(first).rejects.toMatchObject({ code: 'agent_stopped' });
    expect(received()).toEqual([]);
    await ends(chat, 'MessageRefused');
  });

  it('and is refused, for whatever reason, is refused for good, so that only another command can deliver it', async () => {
    for (const [kind, code] of [
      ['unavailable', 'agent_unavailable'],
      ['conflict', 'agent_stopped'],
      ['payment_required', 'compute_cap_reached'],
      ['exhausted', 'wake_limit_reached'],
    ] as const) {
      const chat = aChat();
      const refused = { kind, code, effect: 'final' };
      delivery.fakes.on(agentsRequests.ensureAwake, refusing(kind, code));
      await expect(again(chat)).rejects.toMatchObject(refused);
      delivery.fakes.on(agentsRequests.ensureAwake, (request) => awakeAt(1, request));
      await expect(again(chat)).rejects.toMatchObject({ effect: 'final' });
      await expect(send(chat)).rejects.toMatchObject({ effect: 'final' });
      await ends(chat, 'MessageRefused');
    }
    expect(received()).toEqual([]);
  });

  it('and cannot be delivered has an unknown outcome while its first attempt is in flight', async () => {
    const chat = aChat();
    const open = Promise.withResolvers<void>();
    asleep(async (request) => {
      await open.promise;
      return awakeAt(1, request);
    });
    const first = send(chat);
    await eventually(() => delivery.fakes.requestsOf(agentsRequests.ensureAwake).length === 2);
    delivery.fakes.on(agentsRequests.ensureAwake, (request) => awakeAt(1, request));
    delivery.fakes.on(runtimeRequests.deliver, refusing('unavailable', 'agent_unavailable', 'none'));
    const unknown = { code: 'agent_unavailable', effect: 'unknown' };
    await expect(again(chat)).rejects.toMatchObject(unknown);
    delivery.fakes.on(runtimeRequests.deliver, (message) => delivery.fakes.guest.deliver(message));
    open.resolve();
    expect(await first).toMatchObject({ response: 'heard hi' });
    await ends(chat, 'MessageAccepted', 'MessageAnswered');
  });

  it('while the first attempt runs joins it, also in another process', async () => {
    await delivery.startAnother(PER_MINUTE);
    const open = Promise.withResolvers<string>();
    delivery.fakes.guest.runs(() => open.promise);
    const chat = aChat();
    const tries = [send(chat), ...Array.from({ length: 5 }, () => again(chat))];
    await eventually(() => delivery.fakes.requestsOf(runtimeRequests.deliver).length === tries.length);
    open.resolve('at last');
    const responses = await Promise.all(tries);
    expect(new Set(responses.map((reply) => JSON.stringify(reply))).size).toBe(1);
    expect(responses[0]?.response).toBe('at last');
    expect(received()).toHaveLength(1);
    await ends(chat, 'MessageAccepted', 'MessageAnswered');
  });
});

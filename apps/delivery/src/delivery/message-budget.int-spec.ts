import { agentsRequests } from '@berth/contracts/agents';
import { deliveryRequests, type Chat } from '@berth/contracts/delivery';
import { runtimeRequests } from '@berth/contracts/runtime';
import { DomainError, newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { awakeAt } from '../fixtures/fake-services.fixture.js';
import { envelope, ServedDelivery } from '../fixtures/served-delivery.fixture.js';

const PER_MINUTE = 3;

let delivery: ServedDelivery;

beforeAll(async () => {
  delivery = await ServedDelivery.start(PER_MINUTE);
});
afterAll(() => delivery.stop());
beforeEach(() => delivery.fakes.reset());

const aChat = (agentId: string): Chat => ({ ...envelope(), agentId, message: 'hi', conversationId: null });
const send = (chat: Chat) => delivery.requester.request(deliveryRequests.chat, chat);
const wakes = () =>
  delivery.fakes.requestsOf(agentsRequests.ensureAwake).filter(({ asleep }) => asleep !== 'refuse');
const conflict = (code: string): never => {
  throw new DomainError('conflict', code, 'No.');
};
const asleep = (): void =>
  delivery.fakes.on(agentsRequests.ensureAwake, (request) =>
    request.asleep === 'refuse' ? conflict('agent_asleep') : awakeAt(1, request),
  );
/** Waits for the next minute if this one ends soon, which would reset the count. */
const withinOneMinute = async (work: () => Promise<void>): Promise<void> => {
  const leftMs = 60_000 - (Date.now() % 60_000);
  if (leftMs < 10_000) await eventually(() => Date.now() % 60_000 < 10_000, { timeoutMs: 15_000 });
  await work();
};
const limited = { kind: 'exhausted', code: 'rate_limited' };

describe('the budget of messages', () => {
  it('refuses a chat beyond it before the agent is woken', () =>
    withinOneMinute(async () => {
      const agentId = newId('agt');
      asleep();
      for (let n = 0; n < PER_MINUTE; n++) await send(aChat(agentId));
      expect(wakes()).toHaveLength(PER_MINUTE);
      await expect(send(aChat(agentId))).rejects.toMatchObject(limited);
      expect(wakes()).toHaveLength(PER_MINUTE);
      expect(delivery.fakes.requestsOf(runtimeRequests.deliver)).toHaveLength(PER_MINUTE);
    }));

  it('fails an attachment beyond it before the agent is woken', () =>
    withinOneMinute(async () => {
      const agentId = newId('agt');
      for (let n = 0; n < PER_MINUTE; n++) await send(aChat(agentId));
      asleep();
      const attachment = { path: '/data/inbox/a.txt', name: 'a.txt', size: 7 };
      const { deliveryId } = await delivery.requester.request(deliveryRequests.deliverAttachment, {
        ...envelope(),
        agentId,
        message: null,
        attachment,
      });
      await eventually(async () => {
        const [, end] = await delivery.history(deliveryId);
        expect(end).toMatchObject({ type: 'MessageFailed', data: { code: 'rate_limited' } });
      });
      expect(wakes()).toEqual([]);
    }));

  it.each(['agent_stopped', 'agent_failed', 'agent_deploying'])(
    'is not used by a chat that is refused with %s, which takes precedence',
    (code) =>
      withinOneMinute(async () => {
        const agentId = newId('agt');
        delivery.fakes.on(agentsRequests.ensureAwake, () => conflict(code));
        for (let n = 0; n <= PER_MINUTE; n++)
          await expect(send(aChat(agentId))).rejects.toMatchObject({ code });
        delivery.fakes.reset();
        for (let n = 0; n < PER_MINUTE; n++) await send(aChat(agentId));
        await expect(send(aChat(agentId))).rejects.toMatchObject(limited);
        delivery.fakes.on(agentsRequests.ensureAwake, () => conflict(code));
        await expect(send(aChat(agentId))).rejects.toMatchObject({ code });
      }),
  );

  it('counts a command once, however often it is tried', () =>
    withinOneMinute(async () => {
      const agentId = newId('agt');
      const chat = aChat(agentId);
      delivery.fakes.on(agentsRequests.ensureAwake, (request) =>
        request.asleep === 'refuse' ? conflict('agent_asleep') : unavailable(),
      );
      for (let n = 0; n < 2 * PER_MINUTE; n++)
        await expect(send({ ...chat, repeated: n > 0 })).rejects.toMatchObject({ kind: 'unavailable' });
      delivery.fakes.reset();
      await Promise.all([send(chat), send({ ...chat, repeated: true })]);
      for (let n = 1; n < PER_MINUTE; n++) await send(aChat(agentId));
      await expect(send(aChat(agentId))).rejects.toMatchObject(limited);
    }));

  it('is taken between the check and the wake of an attempt, which a retry of the command does not share', () =>
    withinOneMinute(async () => {
      const chat = aChat(newId('agt'));
      delivery.fakes.on(agentsRequests.ensureAwake, (request) =>
        request.asleep === 'refuse' ? conflict('agent_asleep') : unavailable(),
      );
      for (const repeated of [false, true])
        await expect(send({ ...chat, repeated })).rejects.toMatchObject({ kind: 'unavailable' });
      const attempts = delivery.fakes.requestsOf(agentsRequests.ensureAwake).map(({ attempt }) => attempt);
      const [first, , second] = attempts;
      expect(attempts).toEqual([first, first, second, second]);
      expect([typeof first, typeof second]).toEqual(['string', 'string']);
      expect(second).not.toBe(first);
    }));
});

const unavailable = (): never => {
  throw new DomainError('unavailable', 'service_unavailable', 'Away.');
};

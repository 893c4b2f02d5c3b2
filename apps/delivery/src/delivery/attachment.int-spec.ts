import { setTimeout as sleep } from 'node:timers/promises';
import { agentsRequests } from '@berth/contracts/agents';
import { deliveryRequests } from '@berth/contracts/delivery';
import { runtimeRequests } from '@berth/contracts/runtime';
import { DomainError, newId, type ErrorKind } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { awakeAt } from '../fixtures/fake-services.fixture.js';
import { envelope, ServedDelivery } from '../fixtures/served-delivery.fixture.js';

const PER_MINUTE = 20;
/** A service with nothing in flight stops within this time. */
const STOPS_WITHIN_MS = 1_000;
const file = { path: '/data/inbox/a.txt', name: 'a.txt', size: 7 };

let delivery: ServedDelivery;

beforeAll(async () => {
  delivery = await ServedDelivery.start(PER_MINUTE);
});
afterAll(() => delivery.stop());
beforeEach(() => {
  delivery.fakes.reset();
  delivery.lines.log.restore();
});

const refusing = (kind: ErrorKind, code: string) => (): never => {
  throw new DomainError(kind, code, 'No.');
};
const delivered = () => delivery.fakes.requestsOf(runtimeRequests.deliver);
const attach = (agentId: string, message: string | null = 'look', origin = envelope()) =>
  delivery.requester.request(deliveryRequests.deliverAttachment, {
    ...origin,
    agentId,
    message,
    attachment: file,
  });
const chat = (agentId: string, conversationId: string | null = null) =>
  delivery.requester.request(deliveryRequests.chat, {
    ...envelope(),
    agentId,
    message: 'hi',
    conversationId,
  });
const types = async (deliveryId: string) => (await delivery.history(deliveryId)).map(({ type }) => type);
const ended = (deliveryId: string) =>
  eventually(async () => {
    const history = await delivery.history(deliveryId);
    expect(history).toHaveLength(2);
    return history[1];
  });

describe('an attachment', () => {
  it('is acknowledged once it is accepted, delivered after that, and then recorded as answered', async () => {
    const open = Promise.withResolvers<void>();
    delivery.fakes.on(runtimeRequests.deliver, async () => {
      await open.promise;
      return { response: 'thanks' };
    });
    const agentId = newId('agt');
    const { deliveryId } = await attach(agentId);
    await eventually(() => delivered().length === 1);
    expect(delivered()).toMatchObject([
      { deliveryId, agentId, epoch: 1, message: 'look', attachments: [file] },
    ]);
    expect(delivery.fakes.requestsOf(agentsRequests.ensureAwake)).toMatchObject([{ kind: 'file', agentId }]);
    expect(await types(deliveryId)).toEqual(['MessageAccepted']);
    open.resolve();
    expect(await ended(deliveryId)).toMatchObject({ type: 'MessageAnswered', data: { responseLength: 6 } });
    expect((await delivery.history(deliveryId))[0]?.data).toMatchObject({ kind: 'attachment' });
  });

  it('arrives after the one that was accepted before it, even if waking took longer for that one', async () => {
    const slow = Promise.withResolvers<void>();
    const agentId = newId('agt');
    await ended((await attach(agentId)).deliveryId);
    const wakes: Promise<void>[] = [slow.promise];
    delivery.fakes.on(agentsRequests.ensureAwake, async (request) => {
      await wakes.pop();
      return awakeAt(1, request);
    });
    const earlier = delivery.fakes.requestsOf(agentsRequests.ensureAwake).length;
    const first = await attach(agentId, 'first');
    await eventually(() => delivery.fakes.requestsOf(agentsRequests.ensureAwake).length === earlier + 1);
    const second = await attach(agentId, 'second');
    await eventually(() => delivery.fakes.requestsOf(agentsRequests.ensureAwake).length === earlier + 2);
    slow.resolve();
    await Promise.all([ended(first.deliveryId), ended(second.deliveryId)]);
    expect(delivered().slice(-2)).toMatchObject([{ message: 'first' }, { message: 'second' }]);
  });

  it.each([null, ''])('without a message from its sender is announced by its path: %j', async (message) => {
    await attach(newId('agt'), message);
    await eventually(() => delivered().length === 1);
    expect(delivered()[0]?.message).toContain(file.path);
  });

  it('arrives in the current conversation, or opens one that the next message continues', async () => {
    const [talking, silent] = [newId('agt'), newId('agt')];
    await chat(talking, 'here');
    await ended((await attach(talking)).deliveryId);
    expect(delivered().at(-1)?.conversationId).toBe('here');
    await attach(silent);
    const { conversationId } = await chat(silent);
    await eventually(() => delivered().length === 4);
    const attached = delivered().find((message) => message.agentId === silent && message.attachments);
    expect(attached?.conversationId).toBe(conversationId);
  });

  it('that opens a conversation is acknowledged only after other messages can continue it', async () => {
    const agentId = newId('agt');
    let acknowledged = false;
    const attached = await delivery.withListHeld(async () => {
      const attaching = attach(agentId).finally(() => (acknowledged = true));
      await eventually(() => delivered().length === 1);
      expect(acknowledged).toBe(false);
      return { attaching };
    });
    await attached.attaching;
    const { conversationId } = await chat(agentId);
    expect(delivered()[0]?.conversationId).toBe(conversationId);
  });

  it('is delivered once, however often the same command arrives', async () => {
    const [agentId, origin] = [newId('agt'), envelope()];
    const [first, second] = await Promise.all([attach(agentId, 'a', origin), attach(agentId, 'a', origin)]);
    await ended(first.deliveryId);
    expect([await attach(agentId, 'a', origin), second]).toEqual([first, first]);
    // The message of another command arrives after any work of the repetitions.
    await ended((await attach(agentId, 'b')).deliveryId);
    expect(delivered().map(({ message }) => message)).toEqual(['a', 'b']);
  });

  it('is delivered once, even if its command arrives again before the outcome is recorded', async () => {
    const [agentId, origin] = [newId('agt'), envelope()];
    delivery.fakes.on(runtimeRequests.deliver, () => {
      delivery.lines.log.cut({ refuse: true });
      return { response: 'thanks' };
    });
    const first = await attach(agentId, 'a', origin);
    await eventually(() => delivered().length === 1);
    // It joins the first attempt, so it does not need the log.
    expect(await attach(agentId, 'a', origin)).toEqual(first);
    delivery.lines.log.restore();
    expect(await ended(first.deliveryId)).toMatchObject({ type: 'MessageAnswered' });
    expect(delivered()).toHaveLength(1);
  });

  it.each([
    ['unsupported', 'chat_unsupported'],
    ['upstream', 'agent_error'],
    ['timeout', 'agent_timeout'],
  ] as const)('that cannot be delivered is recorded as failed with the reason: %s %s', async (kind, code) => {
    delivery.fakes.on(runtimeRequests.deliver, refusing(kind, code));
    const { deliveryId } = await attach(newId('agt'));
    expect(await ended(deliveryId)).toMatchObject({ type: 'MessageFailed', data: { code } });
  });

  it('for an agent that cannot be woken is recorded as failed with the reason', async () => {
    delivery.fakes.on(agentsRequests.ensureAwake, refusing('conflict', 'agent_stopped'));
    const { deliveryId } = await attach(newId('agt'));
    expect(await ended(deliveryId)).toMatchObject({ type: 'MessageFailed', data: { code: 'agent_stopped' } });
    expect(delivered()).toEqual([]);
  });

  it('counts against the shared budget of messages', async () => {
    const agentId = newId('agt');
    const attached = await Promise.all(Array.from({ length: 3 * PER_MINUTE }, () => attach(agentId)));
    const outcomes = await Promise.all(attached.map(({ deliveryId }) => ended(deliveryId)));
    const failed = outcomes.filter((outcome) => outcome?.type === 'MessageFailed');
    // A minute that ends during the test resets the count, once.
    expect(failed.length).toBeGreaterThanOrEqual(PER_MINUTE);
    for (const outcome of failed) expect(outcome?.data).toMatchObject({ code: 'rate_limited' });
  });

  it('is delivered after another wake when the agent fell asleep in the meantime', async () => {
    delivery.fakes.on(runtimeRequests.deliver, ({ epoch }) =>
      epoch < 2 ? refusing('conflict', 'stale_epoch')() : { response: 'ok' },
    );
    expect(await ended((await attach(newId('agt'))).deliveryId)).toMatchObject({ type: 'MessageAnswered' });
    expect(delivery.fakes.requestsOf(agentsRequests.ensureAwake)).toMatchObject([
      { kind: 'file', refusedEpoch: null },
      { kind: 'file', refusedEpoch: 1 },
    ]);
  });

  it('that is in delivery when the service stops is delivered completely', async () => {
    const open = Promise.withResolvers<void>();
    delivery.fakes.on(runtimeRequests.deliver, async () => {
      await open.promise;
      return { response: 'thanks' };
    });
    const { deliveryId } = await attach(newId('agt'));
    await eventually(() => delivered().length === 1);
    const stopped = delivery.stopService().then(() => 'stopped');
    expect(await Promise.race([stopped, sleep(STOPS_WITHIN_MS, 'waits')])).toBe('waits');
    open.resolve();
    await stopped;
    await delivery.startService(PER_MINUTE);
    expect(await types(deliveryId)).toEqual(['MessageAccepted', 'MessageAnswered']);
  });
});

describe('a chat', () => {
  it('carries no attachments, and returns the answer of the agent and its conversation', async () => {
    const agentId = newId('agt');
    expect(await chat(agentId, 'c')).toEqual({ response: 'heard hi', conversationId: 'c' });
    expect(delivered()).toMatchObject([{ agentId, message: 'hi', conversationId: 'c' }]);
    expect(delivered()[0]).not.toHaveProperty('attachments');
  });
});

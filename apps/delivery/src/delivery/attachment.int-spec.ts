import { setTimeout as sleep } from 'node:timers/promises';
import { agentsRequests } from '@berth/contracts/agents';
import { deliveryRequests } from '@berth/contracts/delivery';
import { runtimeRequests } from '@berth/contracts/runtime';
import { DomainError, newId, type ErrorKind } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { awakeAt } from '../fixtures/far-services.fixture.js';
import { envelope, ServedDelivery } from '../fixtures/served-delivery.fixture.js';

const PER_MINUTE = 20;
/** A service with nothing in flight stops within that. */
const STOPS_WITHIN_MS = 1_000;
const file = { path: '/data/inbox/a.txt', name: 'a.txt', size: 7 };

let delivery: ServedDelivery;

beforeAll(async () => {
  delivery = await ServedDelivery.start(PER_MINUTE);
});
afterAll(() => delivery.stop());
beforeEach(() => {
  delivery.far.reset();
  delivery.lines.log.restore();
});

const refusing = (kind: ErrorKind, code: string) => (): never => {
  throw new DomainError(kind, code, 'No.');
};
const handed = () => delivery.far.asked(runtimeRequests.deliver);
const tell = (agentId: string, message: string | null = 'look', origin = envelope()) =>
  delivery.requester.request(deliveryRequests.tellAttachment, {
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

describe('a file that came', () => {
  it('gets its response on acceptance, is delivered after the response, and is then recorded as answered', async () => {
    const open = Promise.withResolvers<void>();
    delivery.far.on(runtimeRequests.deliver, async () => {
      await open.promise;
      return { response: 'thanks' };
    });
    const agentId = newId('agt');
    const { deliveryId } = await tell(agentId);
    await eventually(() => handed().length === 1);
    expect(handed()).toMatchObject([{ deliveryId, agentId, epoch: 1, message: 'look', attachments: [file] }]);
    expect(delivery.far.asked(agentsRequests.ensureAwake)).toMatchObject([{ kind: 'file', agentId }]);
    expect(await types(deliveryId)).toEqual(['MessageAccepted']);
    open.resolve();
    expect(await ended(deliveryId)).toMatchObject({ type: 'MessageAnswered', data: { responseLength: 6 } });
    expect((await delivery.history(deliveryId))[0]?.data).toMatchObject({ kind: 'attachment' });
  });

  it('arrives after the one that was accepted before it, even if waking took longer for that one', async () => {
    const slow = Promise.withResolvers<void>();
    const agentId = newId('agt');
    await ended((await tell(agentId)).deliveryId);
    const wakes: Promise<void>[] = [slow.promise];
    delivery.far.on(agentsRequests.ensureAwake, async (request) => {
      await wakes.pop();
      return awakeAt(1, request);
    });
    const earlier = delivery.far.asked(agentsRequests.ensureAwake).length;
    const first = await tell(agentId, 'first');
    await eventually(() => delivery.far.asked(agentsRequests.ensureAwake).length === earlier + 1);
    const second = await tell(agentId, 'second');
    await eventually(() => delivery.far.asked(agentsRequests.ensureAwake).length === earlier + 2);
    slow.resolve();
    await Promise.all([ended(first.deliveryId), ended(second.deliveryId)]);
    expect(handed().slice(-2)).toMatchObject([{ message: 'first' }, { message: 'second' }]);
  });

  it.each([null, ''])('without a message of its sender is announced by its path: %j', async (message) => {
    await tell(newId('agt'), message);
    await eventually(() => handed().length === 1);
    expect(handed()[0]?.message).toContain(file.path);
  });

  it('arrives in the current conversation, or opens one that the next message continues', async () => {
    const [talking, silent] = [newId('agt'), newId('agt')];
    await chat(talking, 'here');
    await ended((await tell(talking)).deliveryId);
    expect(handed().at(-1)?.conversationId).toBe('here');
    await tell(silent);
    const { conversationId } = await chat(silent);
    await eventually(() => handed().length === 4);
    const told = handed().find((message) => message.agentId === silent && message.attachments);
    expect(told?.conversationId).toBe(conversationId);
  });

  it('that opens a conversation gets its response only once others can continue it', async () => {
    const agentId = newId('agt');
    let answered = false;
    const told = await delivery.withListHeld(async () => {
      const telling = tell(agentId).finally(() => (answered = true));
      await eventually(() => handed().length === 1);
      expect(answered).toBe(false);
      return { telling };
    });
    await told.telling;
    const { conversationId } = await chat(agentId);
    expect(handed()[0]?.conversationId).toBe(conversationId);
  });

  it('is delivered once, however often the same command arrives', async () => {
    const [agentId, origin] = [newId('agt'), envelope()];
    const [first, second] = await Promise.all([tell(agentId, 'a', origin), tell(agentId, 'a', origin)]);
    await ended(first.deliveryId);
    expect([await tell(agentId, 'a', origin), second]).toEqual([first, first]);
    // The message of another command arrives after any work of the repetitions.
    await ended((await tell(agentId, 'b')).deliveryId);
    expect(handed().map(({ message }) => message)).toEqual(['a', 'b']);
  });

  it('is delivered once, even if its command arrives again before the outcome is recorded', async () => {
    const [agentId, origin] = [newId('agt'), envelope()];
    delivery.far.on(runtimeRequests.deliver, () => {
      delivery.lines.log.cut({ refuse: true });
      return { response: 'thanks' };
    });
    const first = await tell(agentId, 'a', origin);
    await eventually(() => handed().length === 1);
    // It joins the first attempt, so it does not need the log.
    expect(await tell(agentId, 'a', origin)).toEqual(first);
    delivery.lines.log.restore();
    expect(await ended(first.deliveryId)).toMatchObject({ type: 'MessageAnswered' });
    expect(handed()).toHaveLength(1);
  });

  it.each([
    ['unsupported', 'chat_unsupported'],
    ['upstream', 'agent_error'],
    ['timeout', 'agent_timeout'],
  ] as const)('that cannot be delivered is recorded as failed with the reason: %s %s', async (kind, code) => {
    delivery.far.on(runtimeRequests.deliver, refusing(kind, code));
    const { deliveryId } = await tell(newId('agt'));
    expect(await ended(deliveryId)).toMatchObject({ type: 'MessageFailed', data: { code } });
  });

  it('for an agent that cannot be awake is failed, with the reason', async () => {
    delivery.far.on(agentsRequests.ensureAwake, refusing('conflict', 'agent_stopped'));
    const { deliveryId } = await tell(newId('agt'));
    expect(await ended(deliveryId)).toMatchObject({ type: 'MessageFailed', data: { code: 'agent_stopped' } });
    expect(handed()).toEqual([]);
  });

  it('counts against the shared budget of messages', async () => {
    const agentId = newId('agt');
    const told = await Promise.all(Array.from({ length: 3 * PER_MINUTE }, () => tell(agentId)));
    const outcomes = await Promise.all(told.map(({ deliveryId }) => ended(deliveryId)));
    const failed = outcomes.filter((outcome) => outcome?.type === 'MessageFailed');
    // A minute that ends during the test resets the count, once.
    expect(failed.length).toBeGreaterThanOrEqual(PER_MINUTE);
    for (const outcome of failed) expect(outcome?.data).toMatchObject({ code: 'rate_limited' });
  });

  it('is delivered where the agent woke again after it fell asleep in between', async () => {
    delivery.far.on(runtimeRequests.deliver, ({ epoch }) =>
      epoch < 2 ? refusing('conflict', 'stale_epoch')() : { response: 'ok' },
    );
    expect(await ended((await tell(newId('agt'))).deliveryId)).toMatchObject({ type: 'MessageAnswered' });
    expect(delivery.far.asked(agentsRequests.ensureAwake)).toMatchObject([
      { kind: 'file', refusedEpoch: null },
      { kind: 'file', refusedEpoch: 1 },
    ]);
  });

  it('that is in delivery when the service stops is delivered completely', async () => {
    const open = Promise.withResolvers<void>();
    delivery.far.on(runtimeRequests.deliver, async () => {
      await open.promise;
      return { response: 'thanks' };
    });
    const { deliveryId } = await tell(newId('agt'));
    await eventually(() => handed().length === 1);
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
    expect(handed()).toMatchObject([{ agentId, message: 'hi', conversationId: 'c' }]);
    expect(handed()[0]).not.toHaveProperty('attachments');
  });
});

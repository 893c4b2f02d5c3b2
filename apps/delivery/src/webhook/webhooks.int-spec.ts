import { agentsRequests } from '@berth/contracts/agents';
import { DomainError, newId, type ErrorKind } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ServedDelivery } from '../fixtures/served-delivery.fixture.js';
import { AgentWebhooks } from '../fixtures/webhooks.fixture.js';

const PER_MINUTE = 40;

let delivery: ServedDelivery;
let agent: AgentWebhooks;

beforeAll(async () => {
  delivery = await ServedDelivery.start(PER_MINUTE, {
    webhookRetryMs: [1, 2, 3, 4],
    webhookHoldMs: 100,
  });
});
afterAll(() => delivery.stop());
beforeEach(() => {
  delivery.fakes.reset();
  agent = new AgentWebhooks(() => delivery);
});

const received = () => delivery.fakes.guest.received.filter(({ agentId }) => agentId === agent.agentId);
const refusing = (kind: ErrorKind, code: string) => (): never => {
  throw new DomainError(kind, code, 'No.', {}, { effect: 'none' });
};
const types = async (deliveryId: string): Promise<readonly string[]> =>
  (await delivery.store.read(`webhookDelivery-${deliveryId}`)).map(({ type }) => type);

describe('an accepted webhook', () => {
  it('is listed at once, and handed over in a conversation of its own with its id and content type', async () => {
    const { deliveryId, ...accepted } = await agent.invoke({ message: 'hello', bytes: 17 });
    expect(accepted).toEqual({ accepted: true, agentId: agent.agentId, status: 'queued' });
    expect(await agent.find(deliveryId)).toMatchObject({ id: deliveryId, bytes: 17, error: null });
    const ended = await agent.ended(deliveryId);
    expect(ended).toMatchObject({ status: 'delivered', attempts: 1, error: null });
    expect(Date.parse(ended.deliveredAt ?? '')).toBeGreaterThanOrEqual(Date.parse(ended.createdAt));
    expect(received()).toMatchObject([
      {
        ...{ deliveryId, message: 'hello', conversationId: 'webhook' },
        ...{ source: 'webhook', contentType: 'text/plain' },
      },
    ]);
    expect(delivery.fakes.requestsOf(agentsRequests.ensureAwake)).toMatchObject([{ kind: 'webhook' }]);
  });

  it('is listed for who got its 202, however late the projection is', async () => {
    const other = new AgentWebhooks(() => delivery);
    const { deliveryId, listed } = await delivery.withDatabase((database) =>
      database.transaction(async (tx) => {
        await tx.query('LOCK TABLE webhook_delivery IN SHARE MODE');
        const invoked = await agent.invoke();
        const listing = agent.list();
        // By then, a list that does not wait has been read.
        for (let count = 0; count < 5; count++) expect((await other.list()).items).toEqual([]);
        return { ...invoked, listed: { listing } };
      }),
    );
    expect((await listed.listing).items).toMatchObject([{ id: deliveryId }]);
    const again = await agent.redeliver(deliveryId);
    expect(await agent.find(again.deliveryId)).toMatchObject({ id: again.deliveryId });
  });

  it('is accepted and handed over once, however often its command arrives', async () => {
    const commandId = newId('cmd');
    const accepted = await Promise.all(Array.from({ length: 5 }, () => agent.invoke({ commandId })));
    expect(new Set(accepted.map(({ deliveryId }) => deliveryId)).size).toBe(1);
    await agent.ended(accepted[0]?.deliveryId ?? '');
    await agent.ended((await agent.invoke({ message: 'next' })).deliveryId);
    expect(received().map(({ message }) => message)).toEqual(['hi', 'next']);
  });

  it('waits for its turn: one at a time, in the order of acceptance', async () => {
    let running = 0;
    let most = 0;
    delivery.fakes.guest.runs(async ({ message }) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      return message;
    });
    const ids: string[] = [];
    for (let n = 0; n < 10; n++) ids.push((await agent.invoke({ message: String(n) })).deliveryId);
    for (const id of ids) expect(await agent.ended(id)).toMatchObject({ status: 'delivered' });
    expect(received().map(({ message }) => message)).toEqual(ids.map((_, n) => String(n)));
    expect(most).toBe(1);
  });

  it('is in the log without its text, its content type and the response of the program', async () => {
    delivery.fakes.guest.runs(() => {
      throw new DomainError('upstream', 'agent_error', 'the password is hunter2');
    });
    const { deliveryId } = await agent.invoke({ message: 'canary message' });
    expect(await agent.ended(deliveryId)).toMatchObject({
      status: 'failed',
      error: { code: 'agent_error', message: 'the password is hunter2' },
    });
    const events = JSON.stringify(
      (await delivery.store.read(`webhookDelivery-${deliveryId}`)).map(({ data }) => data),
    );
    expect(events).not.toMatch(/canary|hunter2|text\/plain/);
    await delivery.withDatabase(async (database) => {
      const rows = await database.query('SELECT * FROM delivery_vault.webhook_bodies');
      expect(JSON.stringify(rows)).not.toMatch(/canary|hunter2|text\/plain/);
    });
  });
});

describe('a failed attempt', () => {
  it.each<[string, () => () => never, string]>([
    ['declined', () => refusing('unavailable', 'delivery_declined'), 'agent_declined'],
    ['not handed over', () => refusing('unavailable', 'agent_unavailable'), 'agent_unavailable'],
  ])('is followed by four more, and then by the next delivery (%s)', async (_how, refuse, code) => {
    delivery.fakes.guest.runs(({ message }) => (message === 'bad' ? refuse()() : message));
    if (code === 'agent_unavailable')
      delivery.fakes.on(agentsRequests.ensureAwake, (request) =>
        received().length === 0 && !isLast() ? refuse()() : { ...awake, agentId: request.agentId },
      );
    const isLast = (): boolean => delivery.fakes.requestsOf(agentsRequests.ensureAwake).length > 5;
    const bad = (await agent.invoke({ message: 'bad' })).deliveryId;
    const next = (await agent.invoke({ message: 'next' })).deliveryId;
    expect(await agent.ended(bad)).toMatchObject({ status: 'failed', attempts: 5, error: { code } });
    expect(await agent.ended(next)).toMatchObject({ status: 'delivered', attempts: 1 });
    expect(await types(bad)).toEqual([
      'WebhookAccepted',
      ...Array.from({ length: 4 }, () => 'WebhookAttemptFailed'),
      'WebhookFailed',
    ]);
  });

  it('does not repeat what the program answered', async () => {
    delivery.fakes.guest.runs(() => {
      throw new DomainError('upstream', 'agent_error', 'No.');
    });
    const { deliveryId } = await agent.invoke();
    expect(await agent.ended(deliveryId)).toMatchObject({ status: 'failed', attempts: 1 });
    expect(received()).toHaveLength(1);
  });
});

const awake = { host: 'host1', epoch: 1, guest: { version: '1', capabilities: [] } };

describe('a webhook of an agent that cannot take messages', () => {
  it.each<[string, ErrorKind]>([
    ['agent_stopped', 'conflict'],
    ['agent_failed', 'conflict'],
    ['agent_deploying', 'conflict'],
    ['compute_cap_reached', 'payment_required'],
    ['wake_limit_reached', 'exhausted'],
    ['end_user_suspended', 'forbidden'],
  ])('is held without an attempt while it is %s, and handed over after that', async (code, kind) => {
    delivery.fakes.on(agentsRequests.ensureAwake, refusing(kind, code));
    const { deliveryId } = await agent.invoke();
    await eventually(() => delivery.fakes.requestsOf(agentsRequests.ensureAwake).length >= 2);
    expect(await agent.find(deliveryId)).toMatchObject({ status: 'queued', attempts: 0 });
    delivery.fakes.on(agentsRequests.ensureAwake, ({ agentId }) => ({ ...awake, agentId }));
    expect(await agent.ended(deliveryId)).toMatchObject({ status: 'delivered', attempts: 1 });
  });

  it('waits for a part of Berth that does not respond, without counting a failed attempt', async () => {
    delivery.fakes.on(agentsRequests.ensureAwake, refusing('unavailable', 'service_unavailable'));
    const { deliveryId } = await agent.invoke();
    await eventually(() => delivery.fakes.requestsOf(agentsRequests.ensureAwake).length >= 7, {
      timeoutMs: 20_000,
    });
    delivery.fakes.on(agentsRequests.ensureAwake, ({ agentId }) => ({ ...awake, agentId }));
    expect(await agent.ended(deliveryId)).toMatchObject({ status: 'delivered', attempts: 1 });
  });

  it('is not lost with the process: the next one hands it over, once', async () => {
    delivery.fakes.on(agentsRequests.ensureAwake, refusing('conflict', 'agent_stopped'));
    const ids = [(await agent.invoke()).deliveryId, (await agent.invoke()).deliveryId];
    await delivery.stopService();
    delivery.fakes.on(agentsRequests.ensureAwake, ({ agentId }) => ({ ...awake, agentId }));
    await delivery.startService(PER_MINUTE);
    for (const id of ids) expect(await agent.ended(id)).toMatchObject({ status: 'delivered' });
    expect(received().map(({ deliveryId }) => deliveryId)).toEqual(ids);
  });
});

describe('a webhook whose caller was told that it was not accepted', () => {
  const refusal = { code: 'service_unavailable' };
  /** The deliveries of the agent whose bodies are kept. */
  const kept = (): Promise<readonly { readonly delivery_id: string }[]> =>
    delivery.withDatabase((database) =>
      database.query(
        'SELECT delivery_id FROM delivery_vault.webhook_bodies WHERE agent_id = $1 AND sealed IS NOT NULL',
        [agent.agentId],
      ),
    );
  afterEach(() => Object.values(delivery.lines).forEach((line) => line.restore()));

  it('is never handed over or listed although the log has its acceptance, and its body is forgotten', async () => {
    delivery.lines.log.holdResponses();
    await expect(agent.invoke({ message: 'refused' })).rejects.toMatchObject(refusal);
    delivery.lines.log.restore();
    const next = await eventually(() => agent.invoke({ message: 'next' }));
    expect(await agent.ended(next.deliveryId)).toMatchObject({ status: 'delivered' });
    expect(received().map(({ message }) => message)).toEqual(['next']);
    expect((await agent.list()).items.map(({ id }) => id)).toEqual([next.deliveryId]);
    expect(await kept()).toEqual([{ delivery_id: next.deliveryId }]);
  });

  it('is never handed over even if the vault could not be told, as soon as both are back', async () => {
    delivery.lines.log.holdResponses();
    const refused = agent.invoke({ message: 'refused' });
    const outcome = expect(refused).rejects.toMatchObject(refusal);
    const stored = await eventually(
      async () => (await kept()).find(() => true) ?? Promise.reject(new Error('no')),
    );
    delivery.lines.tables.freeze();
    await outcome;
    Object.values(delivery.lines).forEach((line) => line.restore());
    const next = await eventually(() => agent.invoke({ message: 'next' }), { timeoutMs: 20_000 });
    expect(await agent.ended(next.deliveryId)).toMatchObject({ status: 'delivered' });
    expect(received().map(({ message }) => message)).toEqual(['next']);
    expect(await types(stored.delivery_id)).toEqual(['WebhookAccepted']);
  });

  it('holds up none that was accepted after it', async () => {
    delivery.lines.log.cut({ refuse: true });
    const refused = Array.from({ length: 3 }, () => agent.invoke({ message: 'refused' }));
    for (const one of refused) await expect(one).rejects.toMatchObject(refusal);
    delivery.lines.log.restore();
    const next = await eventually(() => agent.invoke({ message: 'next' }));
    const begunAt = performance.now();
    expect(await agent.ended(next.deliveryId)).toMatchObject({ status: 'delivered' });
    expect(performance.now() - begunAt).toBeLessThan(5_000);
    expect(received().map(({ message }) => message)).toEqual(['next']);
  });

  it.each([
    ['has', () => delivery.lines.log.holdResponses()],
    ['lacks', () => delivery.lines.log.cut({ refuse: true })],
  ])('is accepted and handed over once if its command is repeated, while the log %s it', async (_, fail) => {
    const commandId = newId('cmd');
    fail();
    await expect(agent.invoke({ commandId })).rejects.toMatchObject(refusal);
    delivery.lines.log.restore();
    const { deliveryId } = await eventually(() => agent.invoke({ commandId }));
    expect(await agent.ended(deliveryId)).toMatchObject({ status: 'delivered', attempts: 1 });
    expect((await agent.list()).items).toMatchObject([{ id: deliveryId }]);
    expect(received()).toMatchObject([{ deliveryId }]);
  });
});

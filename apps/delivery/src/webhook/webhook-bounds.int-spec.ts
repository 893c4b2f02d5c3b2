import { agentsRequests } from '@berth/contracts/agents';
import { ProjectionRunner } from '@berth/event-store';
import { DomainError, newId, type ErrorKind } from '@berth/kernel';
import { SecretBox, type Database } from '@berth/persistence';
import { Supervisor } from '@berth/supervision';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { silent } from '../fixtures/fake-services.fixture.js';
import { envelope, ServedDelivery } from '../fixtures/served-delivery.fixture.js';
import { AgentWebhooks } from '../fixtures/webhooks.fixture.js';
import { WebhookListQuery } from '../webhook-list/webhook-list.query.js';
import { webhookListProjection } from '../webhook-list/webhook-list.projection.js';
import { WebhookStreams } from './webhook-delivery.streams.js';
import { WebhookRate } from './webhook-rate.js';
import { WebhookUpkeep } from './webhook-upkeep.js';
import { WebhookVault, type Acceptance, type StoredWebhook } from './webhook-vault.js';

/** As the contract has them: a test that took them from the code would accept any other. */
const BOUNDS = {
  ...{ queuedDeliveries: 1_000, queuedBytes: 64 * 1024 * 1024 },
  ...{ perMinute: 30, heldMs: 24 * 3_600_000 },
};

const PER_MINUTE = 40;
const box = new SecretBox({ current: 'k1', keys: new Map([['k1', Buffer.alloc(32, 7)]]) });
const content = { message: 'hi', contentType: null };

let delivery: ServedDelivery;
let agent: AgentWebhooks;

beforeAll(async () => {
  delivery = await ServedDelivery.start(PER_MINUTE, { webhookRetryMs: [1, 2, 3, 4], webhookHoldMs: 100 });
});
afterAll(() => delivery.stop());
beforeEach(() => {
  delivery.fakes.reset();
  agent = new AgentWebhooks(() => delivery);
});

const refuse = (kind: ErrorKind, code: string): void =>
  delivery.fakes.on(agentsRequests.ensureAwake, () => {
    throw new DomainError(kind, code, 'No.', {}, { effect: 'none' });
  });
const asVault = <T>(work: (vault: WebhookVault, database: Database) => Promise<T>): Promise<T> =>
  delivery.withDatabase((database) => work(new WebhookVault(database, box), database));
const stored = (bytes: number) => ({
  ...{ deliveryId: newId('dlv'), agentId: agent.agentId, accountId: 'acc_1', bytes },
});
const plenty = { minute: 0, perMinute: 1_000_000 };
/** Whether there was a place for it. */
const enqueue = async (vault: WebhookVault, one: StoredWebhook): Promise<boolean> =>
  (await vault.accept([{ ...one, content, caller: null, tryId: one.deliveryId }], plenty))[0]?.outcome ===
  'stored';
const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'ok',
    ({ code, context }: DomainError) => [code, context['retryAfterSeconds']],
  );

/** A delivery that another process stored so many seconds ago. */
const storedAgo = async (seconds: number): Promise<StoredWebhook> => {
  const one = stored(2);
  await asVault(async (vault, database) => {
    await enqueue(vault, one);
    await database.query(
      'UPDATE delivery_vault.webhook_bodies SET stored_at = now() - make_interval(secs => $2) WHERE delivery_id = $1',
      [one.deliveryId, seconds],
    );
  });
  return one;
};

/** Its acceptance, which the log records now. */
const acceptedAt = async (ageMs: number, storedSeconds = 0): Promise<string> => {
  const { deliveryId, agentId, bytes } = await storedAgo(storedSeconds);
  const at = new Date(Date.now() - ageMs).toISOString();
  const accept = {
    ...({ type: 'Accept', deliveryId, agentId, bytes, at } as const),
    ...{ tokenId: null, redeliveryOf: null },
  };
  await new WebhookStreams(delivery.store).handle(deliveryId, accept, envelope());
  return deliveryId;
};

describe('the queue of an agent', () => {
  it('holds exactly 1,000 deliveries, also if many arrive at once, and takes more once one has ended', async () => {
    await asVault(async (vault, database) => {
      const places = 5;
      await database.query(
        `INSERT INTO delivery_vault.webhook_bodies (delivery_id, account_id, agent_id, bytes)
         SELECT $1 || '_' || n, 'acc_1', $1, 1 FROM generate_series(1, $2) n`,
        [agent.agentId, BOUNDS.queuedDeliveries - places],
      );
      const fits = await Promise.all(Array.from({ length: 4 * places }, () => enqueue(vault, stored(1))));
      expect(fits.filter((one) => one)).toHaveLength(places);
      expect(await codeOf(agent.invoke())).toEqual(['queue_full', 60]);
      await vault.end({ agentId: agent.agentId, deliveryId: `${agent.agentId}_1` }, new Date().toISOString());
      expect(await enqueue(vault, stored(1))).toBe(true);
      expect(await enqueue(vault, stored(0))).toBe(false);
      await vault.removeAllOf(agent.agentId);
    });
  });

  it('holds 64 MiB; a delivery beyond is refused, and not stored', async () => {
    await asVault(async (vault) => {
      const { queuedBytes } = BOUNDS;
      expect(await enqueue(vault, stored(queuedBytes - 2))).toBe(true);
      expect(await codeOf(agent.invoke({ bytes: 3 }))).toEqual(['queue_full', 60]);
      expect((await agent.list()).items).toEqual([]);
      expect(await enqueue(vault, stored(2))).toBe(true);
      expect(await codeOf(agent.invoke({ bytes: 1 }))).toEqual(['queue_full', 60]);
      await vault.removeAllOf(agent.agentId);
    });
  });

  it('applies to each delivery separately if many are accepted at once, by processes that wait for each other', async () => {
    const agents = Array.from({ length: 6 }, () => newId('agt'));
    const batchOf = (n: number) =>
      (n % 2 === 0 ? agents : agents.toReversed()).flatMap((agentId) =>
        ['tok_1', 'tok_2', 'tok_3'].map((caller) => ({
          ...stored(1),
          agentId,
          content,
          caller,
          tryId: 'try',
        })),
      );
    await asVault(async (vault) => {
      const left = Array.from({ length: BOUNDS.perMinute + 10 }, (_, n) => n).values();
      const batches: Acceptance[] = [];
      const work = async (): Promise<void> => {
        for (const n of left) batches.push(...(await vault.accept(batchOf(n), plenty)));
      };
      await Promise.all([work(), work(), work(), work()]);
      const outcomes = batches.map(({ outcome }) => outcome);
      expect(outcomes.filter((one) => one === 'stored')).toHaveLength(6 * 3 * BOUNDS.perMinute);
      expect(outcomes.filter((one) => one === 'too_many_calls')).toHaveLength(6 * 3 * 10);
      for (const agentId of agents) await vault.removeAllOf(agentId);
    });
  });

  it('takes each invoke from the budget of messages, once', async () => {
    refuse('conflict', 'agent_stopped');
    const commandId = newId('cmd');
    const ids = [await agent.invoke({ commandId }), await agent.invoke({ commandId }), await agent.invoke()];
    await delivery.withDatabase(async (database) => {
      const counted = await database.query(
        'SELECT delivery_id FROM counted_message WHERE delivery_id = ANY($1)',
        [ids.map(({ deliveryId }) => deliveryId)],
      );
      expect(counted).toHaveLength(2);
      await database.query(
        `INSERT INTO message_budget (agent_id, minute, taken) VALUES ($1, $2, $3)
         ON CONFLICT (agent_id) DO UPDATE SET minute = excluded.minute, taken = excluded.taken`,
        [agent.agentId, Math.floor(Date.now() / 60_000), PER_MINUTE],
      );
    });
    const begun = Math.floor(Date.now() / 60_000);
    const refused = await codeOf(agent.invoke());
    // A minute that ends in between resets the budget.
    if (Math.floor(Date.now() / 60_000) === begun)
      expect(refused).toEqual(['rate_limited', expect.any(Number)]);
  });
});

describe('a webhook that was accepted 24 h ago', () => {
  it('has failed if its agent still cannot take it, and the next one waits on', async () => {
    refuse('conflict', 'agent_stopped');
    const old = await acceptedAt(BOUNDS.heldMs);
    const young = (await agent.invoke()).deliveryId;
    const code = 'agent_unavailable_for_24h';
    expect(await agent.ended(old)).toMatchObject({ status: 'failed', attempts: 0, error: { code } });
    expect(await agent.find(young)).toMatchObject({ status: 'queued', attempts: 0 });
  });

  it('waits on while its end user is suspended', async () => {
    refuse('forbidden', 'end_user_suspended');
    const old = await acceptedAt(BOUNDS.heldMs);
    const asked = (): number => delivery.fakes.requestsOf(agentsRequests.ensureAwake).length;
    await eventually(() => asked() >= 3, { timeoutMs: 20_000 });
    await eventually(async () =>
      expect(await agent.find(old)).toMatchObject({ status: 'queued', attempts: 0 }),
    );
  });

  it('is handed over if its agent can take it', async () => {
    expect(await agent.ended(await acceptedAt(BOUNDS.heldMs * 2))).toMatchObject({ status: 'delivered' });
  });
});

describe('a webhook that another process stored and did not live to mark as accepted or refused', () => {
  it('is handed over if the log recorded its acceptance in time', async () => {
    refuse('conflict', 'agent_stopped');
    const deliveryId = await acceptedAt(0);
    await asVault((_, database) =>
      eventually(async () => {
        const rows = await database.query<{ readonly accepted: boolean }>(
          'SELECT accepted FROM delivery_vault.webhook_bodies WHERE delivery_id = $1',
          [deliveryId],
        );
        expect(rows).toEqual([{ accepted: true }]);
      }),
    );
    delivery.fakes.reset();
    expect(await agent.ended(deliveryId)).toMatchObject({ status: 'delivered' });
  });

  it.each([
    ['lacks its acceptance', async () => (await storedAgo(7)).deliveryId],
    ['recorded its acceptance when its caller had given up', () => acceptedAt(0, 7)],
  ])('is neither handed over nor listed if the log %s, and holds up none', async (_, store) => {
    const deliveryId = await store();
    const next = (await agent.invoke({ message: 'next' })).deliveryId;
    expect(await agent.ended(next)).toMatchObject({ status: 'delivered' });
    expect((await agent.list()).items.map(({ id }) => id)).toEqual([next]);
    expect(delivery.fakes.guest.received.map((one) => one.deliveryId)).not.toContain(deliveryId);
  });
});

describe('what is kept of a delivery', () => {
  const upkeepOf = (vault: WebhookVault, database: Database): WebhookUpkeep =>
    new WebhookUpkeep(
      vault,
      new WebhookRate(database),
      new WebhookListQuery(database, vault, delivery.requester),
      new WebhookStreams(delivery.store),
      silent,
    );
  const age = (database: Database, deliveryId: string, by: string): Promise<unknown> =>
    database.query(
      'UPDATE delivery_vault.webhook_bodies SET ended_at = now() - $2::interval WHERE delivery_id = $1',
      [deliveryId, by],
    );

  it('is its body until 24 h after its end, and the words of its error for 30 days', async () => {
    delivery.fakes.guest.runs(() => {
      throw new DomainError('upstream', 'agent_error', 'Out of words.');
    });
    const { deliveryId } = await agent.invoke();
    const error = { code: 'agent_error', message: 'Out of words.' };
    expect(await agent.ended(deliveryId)).toMatchObject({ error });
    await asVault(async (vault, database) => {
      await age(database, deliveryId, '23 hours');
      await upkeepOf(vault, database).round();
      expect(await vault.find(agent.agentId, deliveryId)).toMatchObject({ message: 'hi' });
      await age(database, deliveryId, '25 hours');
      await upkeepOf(vault, database).round();
      expect(await vault.find(agent.agentId, deliveryId)).toBeNull();
      expect(await agent.find(deliveryId)).toMatchObject({ error });
      expect(await codeOf(agent.redeliver(deliveryId))).toEqual(['body_forgotten', undefined]);
      await age(database, deliveryId, '31 days');
      await upkeepOf(vault, database).round();
      expect((await vault.errorsOf([deliveryId])).size).toBe(0);
    });
    expect(await codeOf(agent.redeliver(newId('dlv')))).toEqual(['delivery_not_found', undefined]);
  });

  it('fails it if a restored backup lacks its body', async () => {
    refuse('conflict', 'agent_stopped');
    const { deliveryId } = await agent.invoke();
    await asVault(async (vault, database) => {
      await database.query('DELETE FROM delivery_vault.webhook_bodies WHERE delivery_id = $1', [deliveryId]);
      await upkeepOf(vault, database).round(0);
    });
    expect(await agent.ended(deliveryId)).toMatchObject({ status: 'failed', error: { code: 'body_lost' } });
  });
});

describe('the list of deliveries', () => {
  it('is identical row by row after a rebuild from the log', async () => {
    delivery.fakes.guest.runs(({ message }) => {
      if (message === 'fail') throw new DomainError('upstream', 'agent_error', 'No.');
      return message;
    });
    for (const message of ['one', 'fail', 'two'])
      await agent.ended((await agent.invoke({ message })).deliveryId);
    await agent.token();
    await agent.token('rotateToken');
    // Nothing may be handed over between the two reads.
    await delivery.stopService();
    await delivery.withDatabase(async (database) => {
      const rows = async (): Promise<unknown> => [
        await database.query('SELECT * FROM webhook_delivery ORDER BY id'),
        await database.query('SELECT * FROM webhook_token ORDER BY agent_id'),
      ];
      const { store } = delivery;
      const runner = new ProjectionRunner({
        store,
        database,
        projection: webhookListProjection,
        log: silent,
      });
      const supervisor = new Supervisor('test', silent);
      supervisor.start('projection', (signal) => runner.run(signal));
      await runner.untilCaughtUp();
      const before = await rows();
      await runner.rebuild(() => undefined, new AbortController().signal);
      expect(await rows()).toEqual(before);
      await supervisor.stop();
    });
    await delivery.startService(PER_MINUTE);
  });
});

import { accountsRequests } from '@berth/contracts/accounts';
import { agentsRequests } from '@berth/contracts/agents';
import { DomainError } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ServedDelivery } from '../fixtures/served-delivery.fixture.js';
import { AgentWebhooks } from '../fixtures/webhooks.fixture.js';

let delivery: ServedDelivery;
let agent: AgentWebhooks;

beforeAll(async () => {
  delivery = await ServedDelivery.start(1_000);
  await delivery.startAnother(1_000);
});
afterAll(() => delivery.stop());
beforeEach(() => {
  delivery.fakes.reset();
  agent = new AgentWebhooks(() => delivery);
});

describe('the token of a webhook', () => {
  it('is one token, however many requests make it at once, on whichever process', async () => {
    const tokens = await Promise.all(Array.from({ length: 20 }, () => agent.token()));
    expect(new Set(tokens).size).toBe(1);
    expect(await agent.authorize(tokens[0] ?? '')).toMatch(/^tok_/);
  });

  it('ends with its rotation: none of the calls that begin after that is authorized with it', async () => {
    const old = await agent.token();
    const next = await agent.token('rotateToken');
    // Half of them: wrong tokens have a rate.
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, n) => agent.authorize(n % 2 === 0 ? old : next)),
    );
    expect(new Set(outcomes.filter((_, n) => n % 2 === 0))).toEqual(new Set(['unauthenticated']));
    expect(new Set(outcomes.filter((_, n) => n % 2 === 1)).size).toBe(1);
    expect(await agent.token()).toBe(next);
  });

  it('that was replaced according to the log is refused, even if a restored vault has it', async () => {
    const row = 'SELECT token_id, revision, sealed FROM delivery_vault.webhook_tokens WHERE agent_id = $1';
    const old = await agent.token();
    const [backup] = await delivery.withDatabase((database) =>
      database.query<{ token_id: string; revision: string; sealed: string }>(row, [agent.agentId]),
    );
    await agent.token('rotateToken');
    await delivery.withDatabase((database) =>
      database.query(
        'UPDATE delivery_vault.webhook_tokens SET token_id = $2, revision = $3, sealed = $4 WHERE agent_id = $1',
        [agent.agentId, backup?.token_id, backup?.revision, backup?.sealed],
      ),
    );
    await eventually(async () => expect(await agent.authorize(old)).toBe('unauthenticated'));
    const repaired = await agent.token();
    expect(repaired).not.toBe(old);
    expect(await agent.authorize(repaired)).toMatch(/^tok_/);
  });

  it('is in plaintext only in the response', async () => {
    const token = await agent.token();
    const events = await delivery.store.read(`webhookToken-${agent.agentId}`);
    expect(JSON.stringify(events.map(({ data }) => data))).not.toContain(token);
    await delivery.withDatabase(async (database) => {
      expect(
        JSON.stringify(await database.query('SELECT * FROM delivery_vault.webhook_tokens')),
      ).not.toContain(token);
    });
  });

  it('may be missing unless it is required', async () => {
    expect(await agent.authorize(null)).toBeNull();
    expect(await agent.authorize(null, true)).toBe('unauthenticated');
    expect(await agent.authorize(await agent.token(), true)).toMatch(/^tok_/);
  });

  it('is refused once too many wrong ones were sent, but the right one never is', async () => {
    const token = await agent.token();
    const outcomes = await Promise.all(
      Array.from({ length: 35 }, (_, n) => agent.authorize(`wh_wrong${String(n)}`)),
    );
    expect(outcomes.filter((code) => code === 'unauthenticated')).toHaveLength(30);
    expect(outcomes.filter((code) => code === 'rate_limited')).toHaveLength(5);
    expect(await agent.authorize(token)).toMatch(/^tok_/);
    expect(await agent.authorize(null)).toBeNull();
  });

  it('of an agent that is unknown, or of another account, is not_found', async () => {
    delivery.fakes.addressee = () => ({ accountId: 'acc_2', suspended: null });
    await expect(agent.token()).rejects.toMatchObject({ code: 'agent_not_found' });
    delivery.fakes.addressee = () => {
      throw new DomainError('not_found', 'agent_not_found', 'No.');
    };
    for (const token of ['wh_wrong', null]) expect(await agent.authorize(token)).toBe('agent_not_found');
  });
});

describe('an invoke', () => {
  const outcome = async (token: string | null): Promise<string> =>
    agent.invoke({ token }).then(
      () => 'accepted',
      ({ code }: DomainError) => code,
    );

  it('is accepted with the current token only, whatever its gateway found out before', async () => {
    const old = await agent.token();
    expect(await outcome(old)).toBe('accepted');
    const next = await agent.token('rotateToken');
    const outcomes = await Promise.all([old, next, 'wh_wrong', null, old].map(outcome));
    expect(outcomes).toEqual([
      'unauthenticated',
      'accepted',
      'unauthenticated',
      'accepted',
      'unauthenticated',
    ]);
    expect((await agent.list()).items).toHaveLength(3);
  });

  it.each(['account_suspended', 'end_user_suspended'] as const)(
    'is refused as %s, and not stored',
    async (code) => {
      delivery.fakes.addressee = () => ({ accountId: 'acc_1', suspended: code });
      if (code === 'account_suspended')
        delivery.fakes.on(accountsRequests.suspended, ({ accountIds }) => ({ accountIds }));
      expect(await outcome(await agent.token())).toBe(code);
      expect((await agent.list()).items).toEqual([]);
    },
  );

  it('is accepted once `accounts` has resumed the account, which `agents` hears of a moment later', async () => {
    delivery.fakes.addressee = () => ({ accountId: 'acc_1', suspended: 'account_suspended' });
    expect(await outcome(null)).toBe('accepted');
  });

  it('is not accepted while a suspension cannot be looked up', async () => {
    delivery.fakes.on(accountsRequests.suspended, () => {
      throw new DomainError('unavailable', 'service_unavailable', 'No.');
    });
    expect(await outcome(null)).toBe('service_unavailable');
  });

  it('shares its look-ups with those that arrive while others are looked up', async () => {
    const agents = Array.from({ length: 40 }, () => new AgentWebhooks(() => delivery));
    await Promise.all(agents.map((one) => one.invoke()));
    const looked = delivery.fakes.requestsOf(agentsRequests.addressees).map(({ agentIds }) => agentIds);
    expect(looked.flat().toSorted()).toEqual(agents.map(({ agentId }) => agentId).toSorted());
    expect(looked.length).toBeLessThan(agents.length);
    for (const { accountIds } of delivery.fakes.requestsOf(accountsRequests.suspended))
      expect(accountIds).toEqual(['acc_1']);
  });
});

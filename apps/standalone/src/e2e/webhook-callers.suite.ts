import { eventually } from '@berth/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { ACCOUNTS, openAccount, runningAgentOf } from './opened-accounts.fixture.js';
import type { Stack } from './stack.fixture.js';
import { Webhook, type Invocation } from './webhooks.fixture.js';

const UNKNOWN_AGENT = 'agt_01jd2m3k4n5p6q7r8s9t0v1w2x';
const PER_MINUTE = 30;

/** Who may invoke webhooks, and how often. Stopped agents queue what they get, so that nothing is handed over. */
export const describeWebhookCallers = (stack: () => Stack): void => {
  const api = new Api(stack);
  const stoppedAgent = async (): Promise<Webhook> => {
    const { id } = await api.runningAgent({ templateId: 'blank' });
    await api.post(`/api/agents/${id}/stop`);
    return new Webhook(stack, api, id);
  };
  const everyGateway = (): readonly number[] => stack().urls.map((_, gateway) => gateway);

  describe('the token of a webhook', () => {
    let hook: Webhook;
    let token: string;
    beforeAll(async () => {
      hook = await stoppedAgent();
      ({ token } = await hook.token());
    }, 60_000);

    const outcome = async (how: Invocation): Promise<string> => {
      const { status, body } = await hook.invoke('hello', how);
      return status === 202 ? '202' : `${String(status)} ${body.detail.code}`;
    };

    it('is made by the first GET, on whichever gateway, and its URL invokes the webhook', async () => {
      const fresh = await stoppedAgent();
      const gateways = everyGateway();
      const shown = await Promise.all([...gateways, ...gateways].map((gateway) => fresh.token(gateway)));
      expect(new Set(shown.map((one) => one.token)).size).toBe(1);
      const { token: made, url, createdAt } = await fresh.token();
      expect(shown[0]?.token).toBe(made);
      expect(made).toMatch(/^wh_[0-9A-Za-z]{40,}$/);
      expect(new URL(url).pathname).toBe(fresh.path);
      expect(new URL(url).searchParams.get('token')).toBe(made);
      expect(Date.parse(createdAt)).toBeLessThanOrEqual(Date.now() + 60_000);
      await fresh.accepted('by url', { query: new URL(url).search });
    }, 60_000);

    it('counts in the header before the query, and an empty or wrong one is 401', async () => {
      const right = `?token=${token}`;
      expect(await outcome({ token })).toBe('202');
      expect(await outcome({ query: right })).toBe('202');
      expect(await outcome({ token, query: '?token=wrong' })).toBe('202');
      const wrong: readonly Invocation[] = [
        { token: 'wrong' },
        { token: '' },
        { token: '', query: right },
        { token: 'wh_wrong', query: right },
        { query: '?token=' },
        { query: '?token' },
        { query: `${right}&token=${token}` },
        { token: `${token}x` },
        { token: token.toUpperCase() },
      ];
      for (const how of wrong) expect([how, await outcome(how)]).toEqual([how, '401 unauthenticated']);
      const { status, headers } = await hook.invoke('x', { token: 'wrong' });
      expect([status, headers.has('www-authenticate')]).toEqual([401, true]);
    });

    it('may be missing, which is deprecated; a key changes nothing', async () => {
      const with_ = await hook.invoke('with', { token });
      expect([with_.headers.get('deprecation'), with_.headers.get('warning')]).toEqual([null, null]);
      for (const headers of [{}, { authorization: `Bearer ${stack().key}` }]) {
        const without = await hook.invoke('without', { headers });
        expect(without.status).toBe(202);
        expect(without.headers.get('deprecation')).toBe('true');
        expect(without.headers.get('warning')).toMatch(/^299 - "/);
      }
    });

    it('of an unknown agent is 404, right or wrong or missing', async () => {
      for (const id of [UNKNOWN_AGENT, 'agt_nothing']) {
        const unknown = new Webhook(stack, api, id);
        for (const how of [{}, { token }, { query: '?token=wrong' }, { token: '' }]) {
          const { status, body } = await unknown.invoke('hello', how);
          expect([id, how, status, body.detail.code]).toEqual([id, how, 404, 'agent_not_found']);
        }
      }
    });

    it('ends on every gateway once its rotation has returned, and the audit has the rotation', async () => {
      const gateways = everyGateway();
      for (const gateway of gateways) {
        const { status, body } = await hook.rotate(gateway);
        expect([status, body.token === token]).toEqual([200, false]);
        for (const other of gateways) {
          expect(await outcome({ token, gateway: other })).toBe('401 unauthenticated');
          expect(await outcome({ token: body.token, gateway: other })).toBe('202');
          expect((await hook.token(other)).token).toBe(body.token);
        }
        token = body.token;
      }
      await eventually(
        async () => {
          const { body } = await api.get<{ items: { action: string }[] }>(
            `/api/v1/audit?resource=${hook.agentId}&action=webhook.rotate`,
          );
          expect(body.items).toHaveLength(gateways.length);
          expect(JSON.stringify(body)).not.toContain('wh_');
        },
        { timeoutMs: 30_000 },
      );
    });
  });

  it('a webhook of a suspended account is 403 from its suspension until it is resumed, also for a caller of a moment ago', async () => {
    const { id, key } = await openAccount(api, 'hooked');
    const hook = new Webhook(stack, api, await runningAgentOf(api, key, { templateId: 'blank' }));
    for (const [suspended, expected] of [
      [false, '202 '],
      [true, '403 account_suspended'],
      [false, '202 '],
    ] as const) {
      expect((await api.call('PUT', `${ACCOUNTS}/${id}`, { body: { suspended } })).status).toBe(200);
      for (const gateway of everyGateway()) {
        const { status, body } = await hook.invoke('hello', { gateway });
        expect(`${String(status)} ${status === 202 ? '' : body.detail.code}`).toBe(expected);
      }
    }
  }, 60_000);

  describe('the rate of a webhook', () => {
    const atOnce = async (hook: Webhook, calls: number, how: Invocation = {}) => {
      const gateways = stack().urls.length;
      const responses = await Promise.all(
        Array.from({ length: calls }, (_, n) =>
          hook.invokeUntilServed(String(n), { ...how, gateway: n % gateways }),
        ),
      );
      const statuses = responses.map(({ status }) => status);
      const [refused] = responses.filter(({ status }) => status === 429);
      return { accepted: statuses.filter((status) => status === 202).length, refused, statuses };
    };

    it('is 30 a minute for each caller, over all gateways together; a rotated token is another caller', async () => {
      const hook = await stoppedAgent();
      const { token } = await hook.token();
      for (const how of [{ token }, {}]) {
        const { accepted, refused } = await atOnce(hook, PER_MINUTE + 10, how);
        expect(accepted).toBe(PER_MINUTE);
        expect(refused?.body.detail.code).toBe('rate_limited');
        const wait = Number(refused?.headers.get('retry-after'));
        expect(wait).toBeGreaterThanOrEqual(1);
        expect(wait).toBeLessThanOrEqual(60);
      }
      const rotated = (await hook.rotate()).body.token;
      expect((await atOnce(hook, 2, { token: rotated })).accepted).toBe(2);
      expect(await hook.deliveries()).toHaveLength(2 * PER_MINUTE + 2);
    }, 60_000);

    it('of wrong tokens is counted apart from all others', async () => {
      const hook = await stoppedAgent();
      const { token } = await hook.token();
      const { statuses } = await atOnce(hook, PER_MINUTE + 10, { token: 'wh_guessed' });
      expect(statuses.filter((status) => status === 401)).toHaveLength(PER_MINUTE);
      expect(statuses.filter((status) => status === 429)).toHaveLength(10);
      expect((await hook.invoke('valid', { token })).status).toBe(202);
      expect((await hook.invoke('none')).status).toBe(202);
    }, 60_000);

    it('of wrong tokens, once used up, stays used up for all of them, and delays neither the owner nor a new token', async () => {
      const hook = await stoppedAgent();
      const { token } = await hook.token();
      const gateways = stack().urls.length;
      const guess = async (n: number): Promise<number> =>
        (await hook.invoke('x', { token: `wh_${String(n % 7)}`, gateway: n % gateways })).status;
      let isOver = false;
      const statuses: number[] = [];
      const flood = Promise.all(
        Array.from({ length: 4 }, async () => {
          while (!isOver) statuses.push(await guess(statuses.length));
        }),
      );
      await eventually(() => expect(statuses.length).toBeGreaterThan(100), { timeoutMs: 60_000 });
      for (let n = 0; n < 5; n++) await hook.accepted('of the owner', { token, gateway: n % gateways });
      const rotated = (await hook.rotate()).body.token;
      for (let n = 0; n < 5; n++) await hook.accepted('new', { token: rotated, gateway: n % gateways });
      const late = await hook.invoke('late', { token });
      isOver = true;
      await flood;
      expect([401, 429]).toContain(late.status);
      expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(2 * PER_MINUTE);
      expect(new Set(statuses)).toEqual(new Set([401, 429]));
      expect(await hook.deliveries()).toHaveLength(10);
    }, 120_000);

    it('of callers without a token does not outlive the agent', async () => {
      const hook = await stoppedAgent();
      const { accepted, refused } = await atOnce(hook, PER_MINUTE + 5);
      expect([accepted, refused?.status]).toEqual([PER_MINUTE, 429]);
      expect((await hook.invoke('again')).status).toBe(429);
      expect((await api.call('DELETE', `/api/agents/${hook.agentId}`)).status).toBe(204);
      await eventually(async () => expect((await hook.invoke('gone')).status).toBe(404), {
        timeoutMs: 5_000,
      });
    }, 60_000);

    it('does not count what an Idempotency-Key replays, and each caller has its own keys', async () => {
      const hook = await stoppedAgent();
      const { token } = await hook.token();
      const headers = { 'idempotency-key': crypto.randomUUID() };
      const first = await hook.invoke('same', { token, headers });
      for (let n = 0; n <= PER_MINUTE; n++) {
        const again = await hook.invoke('same', { token, headers });
        expect([again.status, again.body]).toEqual([202, first.body]);
        expect(again.headers.get('idempotent-replayed')).toBe('true');
      }
      const other = await hook.invoke('other', { token, headers });
      expect([other.status, other.body.detail.code]).toEqual([409, 'idempotency_key_reused']);
      await hook.rotate();
      const late = await hook.invoke('same', { token, headers });
      expect([late.status, late.body.detail.code]).toEqual([401, 'unauthenticated']);
      const without = await hook.invoke('same', { headers });
      expect([without.status, without.body.deliveryId === first.body.deliveryId]).toEqual([202, false]);
      expect(await hook.deliveries()).toHaveLength(2);
    }, 60_000);
  });
};

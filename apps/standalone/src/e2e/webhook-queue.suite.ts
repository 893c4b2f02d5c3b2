import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { appendToLog } from './log.fixture.js';
import type { Stack } from './stack.fixture.js';
import { queryTables } from './tables.fixture.js';
import { Webhook } from './webhooks.fixture.js';

const QUEUE = 1_000;
const HOUR_MS = 3_600_000;

const hoursAgo = (hours: number): string => new Date(Date.now() - hours * HOUR_MS).toISOString();

/** Limits of the queue of an agent that take long to reach: its past is written into the storage. */
export const describeWebhookQueue = (stack: () => Stack): void => {
  const api = new Api(stack);

  describe('the queue of a webhook', () => {
    it('refuses an invoke when it is full, and takes the next one once there is a place', async () => {
      const { id } = await api.runningAgent({ templateId: 'blank' });
      await api.post(`/api/agents/${id}/stop`);
      const hook = new Webhook(stack, api, id);
      await hook.accepted('first');
      // The rate of a caller would make 1,000 calls take half an hour.
      await queryTables(
        stack().dataDir,
        `INSERT INTO delivery_vault.webhook_bodies (delivery_id, account_id, agent_id, bytes)
       SELECT $1 || '_' || n, 'acc_1', $1, 1 FROM generate_series(2, $2::integer) n`,
        [id, QUEUE],
      );
      const { status, headers, body } = await hook.invoke('one too many');
      expect([status, body.detail.code]).toEqual([429, 'queue_full']);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await hook.deliveries()).toHaveLength(1);
      await queryTables(
        stack().dataDir,
        `DELETE FROM delivery_vault.webhook_bodies WHERE delivery_id = $1 || '_2'`,
        [id],
      );
      await hook.accepted('fits');
      expect((await api.call('DELETE', `/api/agents/${id}`)).status).toBe(204);
    }, 60_000);

    it('goes on to the next message once one was declined five times, which has failed then', async () => {
      const hook = await Webhook.ofProbe(stack, api);
      await api.post(`/api/agents/${hook.agentId}/stop`);
      const deliveryId = await hook.accepted('decline 9');
      const next = await hook.accepted('next');
      // The pauses between the attempts would take 85 s.
      const attempts = [1, 2, 3, 4].map((n) => ({
        type: 'WebhookAttemptFailed',
        data: {
          ...{ deliveryId, agentId: hook.agentId, attempts: n, code: 'agent_declined' },
          ...{ at: hoursAgo(1), retryAt: hoursAgo(1) },
        },
      }));
      await appendToLog(stack().dataDir, 'acc_1', `webhookDelivery-${deliveryId}`, attempts, 0n);
      expect((await api.post(`/api/agents/${hook.agentId}/start`)).body['state']).toBe('running');
      expect(await hook.ended(deliveryId)).toMatchObject({
        ...{ status: 'failed', attempts: 5, deliveredAt: null },
        error: { code: 'agent_declined', message: 'The agent declined the message at every attempt.' },
      });
      expect(await hook.ended(next)).toMatchObject({ status: 'delivered', attempts: 1 });
      expect((await hook.received()).map(({ message }) => message)).toEqual(['decline 9', 'next']);
    }, 90_000);

    it('waits for a program that never answers, and for nothing else; a restart of the agent ends the wait, and the next message follows', async () => {
      const [hook, other] = [await Webhook.ofProbe(stack, api), await Webhook.ofProbe(stack, api)];
      const unanswered = await hook.accepted(`slow ${String(HOUR_MS)}`);
      const next = await hook.accepted('next');
      await eventually(async () => expect(await hook.received()).toHaveLength(1));
      expect((await api.chat(hook.agentId, 'pid')).status).toBe(200);
      expect(await other.ended(await other.accepted('meanwhile'))).toMatchObject({ status: 'delivered' });
      expect(await hook.deliveries()).toMatchObject([
        { id: next, status: 'queued', attempts: 0 },
        { id: unanswered, status: 'queued' },
      ]);
      expect((await api.post(`/api/agents/${hook.agentId}/restart`)).body['state']).toBe('running');
      expect(await hook.ended(unanswered)).toMatchObject({
        ...{ status: 'failed', attempts: 1, deliveredAt: null },
        error: { code: 'agent_error' },
      });
      expect(await hook.ended(next)).toMatchObject({ status: 'delivered', attempts: 1 });
      expect((await hook.received()).map(({ delivery_id: id }) => id)).toEqual([unanswered, next]);
    }, 90_000);

    it('holds a message of a stopped agent for 24 h, which has failed then, and the next one waits on', async () => {
      const { id: agentId } = await api.runningAgent({ templateId: 'blank' });
      await api.post(`/api/agents/${agentId}/stop`);
      const hook = new Webhook(stack, api, agentId);
      const { id: accountId } = (await api.get<{ id: string }>('/api/v1/account')).body;
      const [old, deliveryId] = [newId('dlv'), newId('dlv')];
      const accepted = { agentId, tokenId: null, bytes: 1, redeliveryOf: null };
      const age = (id: string, at: string) =>
        appendToLog(
          stack().dataDir,
          accountId,
          `webhookDelivery-${id}`,
          [{ type: 'WebhookAccepted', data: { ...accepted, deliveryId: id, at } }],
          'no_stream',
        );
      // As in an acceptance: the body comes first.
      await queryTables(
        stack().dataDir,
        `INSERT INTO delivery_vault.webhook_bodies (delivery_id, account_id, agent_id, bytes)
       SELECT id, $3, $2, 1 FROM unnest($1::text[]) WITH ORDINALITY AS made (id, place) ORDER BY place`,
        [[old, deliveryId], agentId, accountId],
      );
      await age(old, hoursAgo(24));
      await age(deliveryId, hoursAgo(23));
      expect(await hook.ended(old)).toMatchObject({
        ...{ status: 'failed', attempts: 0, deliveredAt: null },
        error: { code: 'agent_unavailable_for_24h' },
      });
      expect(await hook.deliveries('status=queued')).toMatchObject([{ id: deliveryId, attempts: 0 }]);
      expect((await api.call('DELETE', `/api/agents/${agentId}`)).status).toBe(204);
    }, 90_000);
  });
};

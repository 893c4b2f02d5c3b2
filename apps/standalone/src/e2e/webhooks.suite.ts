import { eventually } from '@berth/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { Api, codeOf } from './api.fixture.js';
import { anOwner, PEOPLE } from './end-users.fixture.js';
import type { Stack } from './stack.fixture.js';
import { queryTables } from './tables.fixture.js';
import { Webhook } from './webhooks.fixture.js';

const MIB = 1_048_576;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** The delivery of webhooks' messages. */
export const describeWebhooks = (stack: () => Stack): void => {
  const api = new Api(stack);
  const storedOf = async (agentId: string): Promise<number> =>
    (
      await queryTables(
        stack().dataDir,
        `SELECT agent_id FROM delivery_vault.webhook_bodies WHERE agent_id = $1
         UNION ALL SELECT agent_id FROM delivery_vault.webhook_tokens WHERE agent_id = $1
         UNION ALL SELECT agent_id FROM delivery.webhook_delivery WHERE agent_id = $1`,
        [agentId],
      )
    ).length;

  describe('the message of a webhook', () => {
    let hook: Webhook;
    beforeAll(async () => {
      hook = await Webhook.ofProbe(stack, api);
    }, 60_000);

    it('wakes a sleeping agent, which gets it with its source, and joins no conversation', async () => {
      const { agentId } = hook;
      const current = (await api.chat(agentId, 'hello')).body.conversation_id;
      expect((await api.post(`/api/agents/${agentId}/sleep`)).body['state']).toBe('sleeping');
      const json = JSON.stringify({ message: 'Build 7 failed.', conversation_id: current });
      const id = await hook.accepted(json, { type: 'application/x-www-form-urlencoded' });
      expect(await hook.ended(id)).toMatchObject({ status: 'delivered', bytes: json.length });
      expect((await hook.received()).at(-1)).toEqual({
        ...{ message: 'Build 7 failed.', conversation_id: 'webhook', source: 'webhook', delivery_id: id },
        content_type: 'application/x-www-form-urlencoded',
      });
      expect((await api.chat(agentId, 'still there?')).body.conversation_id).toBe(current);
      expect((await api.get(`/api/agents/${agentId}`)).body).toMatchObject({ state: 'running' });
    }, 60_000);

    it('is the text of any body up to 1 MiB, and messages arrive in the order of acceptance', async () => {
      const bodies: readonly (readonly [Uint8Array<ArrayBuffer> | string | null, string])[] = [
        ['', ''],
        [null, ''],
        [Uint8Array.from([0x61, 0xff]), 'a\ufffd'],
        ['{"text": 5}', '{"text": 5}'],
        ['\u0000'.repeat(MIB), '\u0000'.repeat(MIB)],
        ['[1]', '[1]'],
      ];
      const ids: string[] = [];
      const gateways = stack().urls.length;
      for (const [n, [body]] of bodies.entries())
        ids.push(await hook.accepted(body, { type: null, gateway: n % gateways }));
      for (const id of ids) expect(await hook.ended(id)).toMatchObject({ status: 'delivered', error: null });
      const received = (await hook.received()).slice(-bodies.length);
      expect(received.map(({ delivery_id: id }) => id)).toEqual(ids);
      expect(received.map(({ message }) => message)).toEqual(bodies.map(([, text]) => text));
      const tooLong = await hook.invoke('x'.repeat(MIB + 1));
      expect([tooLong.status, tooLong.body.detail]).toMatchObject([413, { limitBytes: MIB }]);
    }, 60_000);

    it('is offered again after the program declined it, and never after another answer', async () => {
      const declined = await hook.accepted('decline 1');
      const failed = await hook.accepted('fail');
      expect(await hook.ended(declined)).toMatchObject({ status: 'delivered', attempts: 2 });
      const error = { code: 'agent_error', message: 'the model said no' };
      expect(await hook.ended(failed)).toMatchObject({
        status: 'failed',
        attempts: 1,
        deliveredAt: null,
        error,
      });
      expect((await hook.ended(await hook.accepted('die'))).error).toMatchObject({ code: 'agent_error' });
      const messages = (await hook.received()).slice(-4).map(({ message }) => message);
      expect(messages).toEqual(['decline 1', 'decline 1', 'fail', 'die']);
    }, 60_000);

    it('is delivered again on request, as a new delivery', async () => {
      const earlier = await hook.accepted('once more');
      await hook.ended(earlier);
      const path = `${hook.path}/deliveries/${earlier}/redeliver`;
      const { status, body } = await api.post<{ deliveryId: string }>(path);
      expect([status, body]).toMatchObject([202, { accepted: true, status: 'queued' }]);
      expect(body.deliveryId).not.toBe(earlier);
      await hook.ended(body.deliveryId);
      const last = (await hook.received()).slice(-2);
      expect(last).toMatchObject([
        { message: 'once more', delivery_id: earlier },
        { message: 'once more', delivery_id: body.deliveryId },
      ]);
      await queryTables(
        stack().dataDir,
        `UPDATE delivery_vault.webhook_bodies SET ended_at = now() - interval '24 hours 1 minute' WHERE delivery_id = $1`,
        [earlier],
      );
      const gone = await api.post(path);
      expect([gone.status, codeOf(gone)]).toEqual([409, 'body_forgotten']);
    }, 60_000);

    it('is listed newest first, by status, in pages', async () => {
      const all = await hook.deliveries();
      const [last] = all;
      expect(last).toEqual({
        ...{ id: last?.id, status: 'delivered', attempts: 1, error: null, bytes: 9 },
        createdAt: expect.stringMatching(TIME) as string,
        deliveredAt: expect.stringMatching(TIME) as string,
      });
      expect(all.map(({ id }) => id)).toEqual(
        all
          .map(({ id }) => id)
          .toSorted()
          .toReversed(),
      );
      expect(await hook.deliveries('status=failed&limit=200')).toEqual(
        all.filter(({ status }) => status === 'failed'),
      );
      const paged: unknown[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const query: string = cursor === '' ? 'limit=3' : `limit=3&cursor=${cursor}`;
        const page = await api.get<{ items: unknown[]; nextCursor: string | null }>(
          `${hook.path}/deliveries?${query}`,
        );
        paged.push(...page.body.items);
        cursor = page.body.nextCursor;
      }
      expect(paged).toEqual(all);
      expect((await api.get(`${hook.path}/deliveries?status=lost`)).status).toBe(400);
    }, 60_000);
  });

  it('an agent without chat fails its webhooks as chat_unsupported', async () => {
    const { id } = await api.runningAgent({ templateId: 'blank' });
    const hook = new Webhook(stack, api, id);
    const ended = await hook.ended(await hook.accepted('hello'));
    expect(ended).toMatchObject({ status: 'failed', error: { code: 'chat_unsupported' } });
  }, 60_000);

  it('an agent that deploys gets its webhooks when it runs, and those of one that has failed stay queued', async () => {
    const created = async (templateId: string) => {
      const { status, body } = await api.post<{ id: string }>('/api/agents', {
        name: `${templateId} ${crypto.randomUUID()}`,
        templateId,
      });
      expect(status).toBe(201);
      return new Webhook(stack, api, body.id);
    };
    const [deploying, failing] = [await created('probe'), await created('crasher')];
    const early = await deploying.accepted('early');
    expect(await deploying.ended(early)).toMatchObject({ status: 'delivered', attempts: 1 });
    expect((await deploying.received()).map(({ message }) => message)).toEqual(['early']);
    await api.inState(failing.agentId, 'failed', 60_000);
    await failing.accepted('late');
    expect(await failing.deliveries()).toMatchObject([{ status: 'queued', attempts: 0, error: null }]);
  }, 120_000);

  it('a stopped agent gets its webhooks when it is started, and a deleted one leaves nothing of them', async () => {
    const hook = await Webhook.ofProbe(stack, api);
    await hook.token();
    expect((await api.post(`/api/agents/${hook.agentId}/stop`)).body['state']).toBe('stopped');
    const ids = [await hook.accepted('first'), await hook.accepted('second')];
    expect((await hook.deliveries()).map(({ status, attempts }) => [status, attempts])).toEqual([
      ['queued', 0],
      ['queued', 0],
    ]);
    expect((await api.post(`/api/agents/${hook.agentId}/start`)).body['state']).toBe('running');
    for (const id of ids) expect(await hook.ended(id)).toMatchObject({ status: 'delivered' });
    expect((await hook.received()).map(({ message }) => message)).toEqual(['first', 'second']);

    expect((await api.post(`/api/agents/${hook.agentId}/stop`)).body['state']).toBe('stopped');
    await hook.accepted('never');
    expect(await storedOf(hook.agentId)).toBeGreaterThan(3);
    expect((await api.call('DELETE', `/api/agents/${hook.agentId}`)).status).toBe(204);
    const { status, body } = await hook.invoke('gone');
    expect([status, body.detail.code]).toEqual([404, 'agent_not_found']);
    expect((await api.get(`${hook.path}/deliveries`)).status).toBe(404);
    await eventually(async () => expect(await storedOf(hook.agentId)).toBe(0), { timeoutMs: 30_000 });
  }, 90_000);

  it('a suspended end user gets no webhooks: an invoke is 403, and what is queued waits for the resumption', async () => {
    const { externalId, agentId } = await anOwner(api, { templateId: 'probe' });
    const hook = new Webhook(stack, api, agentId);
    await api.post(`/api/agents/${agentId}/stop`);
    const id = await hook.accepted('wait for me');
    expect((await api.post(`${PEOPLE}/${externalId}/suspend`)).status).toBe(200);
    // It could be woken now, if its end user were not suspended.
    expect((await api.post(`/api/agents/${agentId}/sleep`)).body['state']).toBe('sleeping');
    for (let gateway = 0; gateway < stack().urls.length; gateway++) {
      const { status, body } = await hook.invoke('now', { gateway });
      expect([status, body.detail.code]).toEqual([403, 'end_user_suspended']);
    }
    const again = await api.post(`${hook.path}/deliveries/${id}/redeliver`);
    expect([again.status, codeOf(again)]).toEqual([403, 'end_user_suspended']);
    expect(await hook.deliveries()).toMatchObject([{ status: 'queued', attempts: 0 }]);
    expect((await api.post(`${PEOPLE}/${externalId}/resume`)).status).toBe(200);
    const next = await hook.accepted('and for me');
    for (const one of [id, next]) expect(await hook.ended(one)).toMatchObject({ status: 'delivered' });
    expect((await hook.received()).map(({ message }) => message)).toEqual(['wait for me', 'and for me']);
  }, 90_000);
};

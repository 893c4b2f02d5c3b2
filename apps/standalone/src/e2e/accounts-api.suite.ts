import { once } from 'node:events';
import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { Api, codeOf, type ApiResponse } from './api.fixture.js';
import { ACCOUNTS, openAccount, runningAgentOf } from './opened-accounts.fixture.js';
import type { Stack } from './stack.fixture.js';
import { queryTables } from './tables.fixture.js';

/** What operators do with accounts, and what a suspension stops. */
export const describeAccountsApi = (stack: () => Stack): void => {
  const api = new Api(stack);

  describe('an account', () => {
    it('is shown to its keys, and to the operator without them', async () => {
      const { id, key, keyId } = await openAccount(api, 'Shown');
      const scopes = ['read', 'deploy', 'manage', 'computers'];
      expect((await api.get('/api/v1/account', { key })).body).toEqual({
        id,
        name: 'Shown',
        plan: 'default',
        credits: { balanceCents: 0 },
        key: { id: keyId, name: 'first key', scopes },
      });
      expect((await api.get('/api/v1/account')).body).toMatchObject({ credits: { balanceCents: null } });
      const renamed = await api.call('PUT', `${ACCOUNTS}/${id}`, { body: { name: 'Renamed' } });
      expect([renamed.status, renamed.body]).toMatchObject([200, { id, name: 'Renamed', planId: 'default' }]);
      const gateway = stack().urls.length - 1;
      const read = await api.get(`${ACCOUNTS}/${id}`, { gateway });
      expect([read.status, read.body]).toEqual([200, renamed.body]);
      expect(Object.keys(read.body)).not.toContain('key');
    });

    it('is opened once under an idempotency key, which returns the same key again', async () => {
      const headers = { 'idempotency-key': crypto.randomUUID() };
      const [first, second] = [
        await api.post(ACCOUNTS, { name: 'Once' }, { headers }),
        await api.post(ACCOUNTS, { name: 'Once' }, { headers }),
      ];
      expect(second.headers.get('idempotent-replayed')).toBe('true');
      expect(second.body).toEqual(first.body);
    });

    it('is refused with a bad name, an unknown plan, or an unknown id', async () => {
      for (const name of ['', 'x'.repeat(129), 'a\nb', 7])
        expect((await api.post(ACCOUNTS, { name })).status).toBe(400);
      const plan = await api.post(ACCOUNTS, { name: 'Gold', planId: 'gold' });
      expect([plan.status, codeOf(plan)]).toEqual([400, 'unknown_plan']);
      for (const id of [newId('acc'), 'x', newId('key')]) {
        const missing = await api.call('PUT', `${ACCOUNTS}/${id}`, { body: { suspended: 'yes' } });
        expect([missing.status, codeOf(missing)]).toEqual([404, 'account_not_found']);
      }
      const own = (await api.get<{ id: string }>('/api/v1/account')).body.id;
      const first = await api.call('PUT', `${ACCOUNTS}/${own}`, { body: { suspended: true } });
      expect([first.status, codeOf(first)]).toEqual([409, 'first_account']);
    });
  });

  describe('a grant of credits', () => {
    it('adds a positive or takes a negative number of cents, and is refused if it is neither', async () => {
      const { id: accountId } = await openAccount(api, 'Granted');
      const grant = (cents: unknown) => api.post(`${ACCOUNTS}/${accountId}/credits`, { cents });
      for (const [cents, balanceCents] of [
        [20, 20],
        [-21, -1],
      ]) {
        const { status, body } = await grant(cents);
        expect([status, body]).toEqual([200, { accountId, balanceCents }]);
      }
      for (const cents of [0, -0.5, '1', null]) {
        const refused = await grant(cents);
        expect([cents, refused.status, codeOf(refused)]).toEqual([cents, 400, 'invalid_request']);
        expect(refused.body).toMatchObject({ detail: { fields: [{ path: 'cents' }] } });
      }
      expect((await grant(1)).body).toEqual({ accountId, balanceCents: 0 });
    });
  });

  describe('a suspended account', () => {
    const setSuspended = async (id: string, suspended: boolean): Promise<void> => {
      const { status } = await api.call('PUT', `${ACCOUNTS}/${id}`, { body: { suspended } });
      expect(status).toBe(200);
    };

    const stateOf = async (agentId: string): Promise<unknown> => {
      const [row] = await queryTables(
        stack().dataDir,
        'SELECT state, sleep_depth FROM agents.agent_list WHERE id = $1',
        [agentId],
      );
      return row;
    };

    it('has every call refused on every gateway, its streams closed and its agents asleep, until it is resumed', async () => {
      const { id, key } = await openAccount(api, 'Suspended');
      const agentId = await runningAgentOf(api, key, { idleTtlSeconds: 0 });
      const warm = await runningAgentOf(api, key, { templateId: 'blank' });
      await api.post(`/api/agents/${warm}/sleep`, undefined, { key });
      const command = { command: 'sleep 60', detached: true, timeout: 60 };
      const submitted = await api.post<{ executionId: string }>(`/api/agents/${agentId}/exec`, command, {
        key,
      });
      const url = `${stack().urls.at(-1)?.replace('http', 'ws') ?? ''}/api/agents/${agentId}/console`;
      const socket = new WebSocket(url, { headers: { authorization: `Bearer ${key}` } });
      await once(socket, 'open');
      const followed = api.get(`/api/agents/${agentId}/logs?follow=true`, { key });

      const owned = await runningAgentOf(api, key, { templateId: 'blank', externalUserId: 'ada' });
      await api.call('PUT', '/api/v1/end-users/ada', { key, body: {} });
      const { body: minted } = await api.post<{ token: string }>('/api/v1/end-users/ada/tokens', {}, { key });
      const byToken = (): Promise<ApiResponse> => api.get(`/api/agents/${owned}`, { key: minted.token });
      expect((await byToken()).status).toBe(200);

      const closed = once(socket, 'close');
      await setSuspended(id, true);
      const suspendedAt = Date.now();
      const gateways = stack().urls.length;
      const calls = await Promise.all(
        Array.from({ length: 20 }, (_, n) => api.get('/api/agents', { key, gateway: n % gateways })),
      );
      expect(new Set(calls.map((one) => `${one.status} ${String(codeOf(one))}`))).toEqual(
        new Set(['403 account_suspended']),
      );
      const refused = await byToken();
      expect([refused.status, codeOf(refused)]).toEqual([403, 'account_suspended']);
      await Promise.all([closed, followed]);
      expect(Date.now() - suspendedAt).toBeLessThan(5_000);
      await eventually(
        async () => {
          const cold = { state: 'sleeping', sleep_depth: 'cold' };
          expect([await stateOf(agentId), await stateOf(warm)]).toEqual([cold, cold]);
        },
        { timeoutMs: 10_000 },
      );

      await setSuspended(id, false);
      expect((await byToken()).status).toBe(200);
      const resumed = await api.get(`/api/agents/${agentId}`, { key });
      expect([resumed.status, resumed.body]).toMatchObject([
        200,
        { state: 'sleeping', sleepDepth: 'cold', stateReason: 'suspended' },
      ]);
      const execution = await api.get(`/api/agents/${agentId}/exec/${submitted.body.executionId}`, { key });
      expect(execution.body).toMatchObject({ status: 'failed', exitCode: -1 });
      await eventually(
        async () => expect((await api.chat(agentId, 'awake?', { key })).body.response).toContain('awake?'),
        { timeoutMs: 20_000 },
      );
    });
  });
};

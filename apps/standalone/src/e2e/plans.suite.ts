import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@berth/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { Api, codeOf } from './api.fixture.js';
import { PEOPLE } from './end-users.fixture.js';
import { ACCOUNTS } from './opened-accounts.fixture.js';
import type { Stack } from './stack.fixture.js';

/**
 * The guarantees of plans over the public API. `hangUp` sends SIGHUP to every process of the stack. The operator's file of
 * the stack must have no plans, and has some afterwards.
 */
export const describePlans = (stack: () => Stack, hangUp: () => void): void => {
  const api = new Api(stack);
  const file = (): string => join(stack().dataDir, 'berth.yaml');
  let withoutPlans = '';
  beforeAll(() => {
    withoutPlans = readFileSync(file(), 'utf8');
  });
  const write = (plans: readonly string[]): void => {
    writeFileSync(file(), `${withoutPlans}\nplans:\n${plans.map((plan) => `  - ${plan}\n`).join('')}`);
    hangUp();
  };
  const DEFAULT = '{ id: default, hosting: metered }';
  const openedWith = async (planId: string): Promise<{ readonly id: string; readonly key: string }> => {
    const { status, body } = await api.post<Record<string, string>>(ACCOUNTS, { name: 'Planned', planId });
    expect(status, JSON.stringify(body)).toBe(201);
    return body as unknown as { readonly id: string; readonly key: string };
  };
  const give = async (id: string, planId: string): Promise<void> =>
    expect((await api.call('PUT', `${ACCOUNTS}/${id}`, { body: { planId } })).status).toBe(200);

  /** The processes do not read the file at the same moment: all have read it once eight creations at once are refused. */
  const untilReadByAll = async (): Promise<void> => {
    const { id, key } = await openedWith('none');
    const create = () => api.post('/api/agents', { name: crypto.randomUUID(), templateId: 'blank' }, { key });
    await eventually(async () => {
      const responses = await Promise.all(Array.from({ length: 8 }, create));
      expect(new Set(responses.map(codeOf))).toEqual(new Set(['plan_limit_reached']));
    });
    await give(id, 'default');
  };

  describe('a plan with maxAgents', () => {
    it('holds under concurrent creations through every gateway, those for end users included', async () => {
      write([
        DEFAULT,
        '{ id: few, hosting: metered, maxAgents: 3 }',
        '{ id: none, hosting: metered, maxAgents: 0 }',
      ]);
      const { id, key } = await eventually(() => openedWith('few'));
      await untilReadByAll();
      const gateways = stack().urls.length;
      const create = (n: number) => {
        const options = { key, gateway: n % gateways };
        return n % 3 === 0
          ? api.post(`${PEOPLE}/user-${n}/agents`, { templateId: 'blank' }, options)
          : api.post('/api/agents', { name: `planned ${n}`, templateId: 'blank' }, options);
      };
      const responses = await Promise.all(Array.from({ length: 12 }, (_, n) => create(n)));
      const created = responses.filter(({ status }) => status === 201);
      expect(created).toHaveLength(3);
      for (const response of responses.filter(({ status }) => status !== 201))
        expect([response.status, codeOf(response)]).toEqual([402, 'plan_limit_reached']);

      const agentId = String(created[0]?.body['id']);
      expect((await api.call('DELETE', `/api/agents/${agentId}`, { key })).status).toBeLessThan(300);
      expect((await create(13)).status).toBe(201);
      expect(codeOf(await create(14))).toBe('plan_limit_reached');

      expect((await api.get('/api/v1/account', { key })).body).toMatchObject({ plan: 'few' });
      await give(id, 'default');
      expect((await create(16)).status).toBe(201);
    });
  });
};

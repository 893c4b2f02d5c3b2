import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@berth/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { Api, codeOf } from './api.fixture.js';
import { PEOPLE } from './end-users.fixture.js';
import { ACCOUNTS, runningAgentOf } from './opened-accounts.fixture.js';
import type { Stack } from './stack.fixture.js';

/** What the tests of plans do with the processes of a stack. */
export interface Processes {
  /** Sends SIGHUP to all of them. */
  hangUp(): void;
  /** What all of them have printed so far. */
  printed(): string | Promise<string>;
}

/**
 * The guarantees of plans over the public API. The operator's file of the stack must have no plans, and has some
 * afterwards.
 */
export const describePlans = (stack: () => Stack, { hangUp, printed }: Processes): void => {
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
  const BLANK = { templateId: 'blank' };
  const DEFAULT = '{ id: default, hosting: metered }';
  const FEW = '{ id: few, hosting: metered, maxAgents: 3 }';
  const NONE = '{ id: none, hosting: metered, maxAgents: 0 }';
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
    await eventually(
      async () => {
        const responses = await Promise.all(Array.from({ length: 8 }, create));
        expect(new Set(responses.map(codeOf))).toEqual(new Set(['plan_limit_reached']));
      },
      { intervalMs: 250 },
    );
    await give(id, 'default');
  };

  describe('a plan with maxAgents', () => {
    it('holds under concurrent creations through every gateway, those for end users included', async () => {
      write([DEFAULT, FEW, NONE]);
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

  describe('a file with a fault', () => {
    it('changes nothing, and what is printed names the line and the member', async () => {
      write([DEFAULT, FEW, NONE]);
      const { id, key } = await eventually(() => openedWith('none'));
      await untilReadByAll();
      write([DEFAULT, FEW, '{ id: none, hosting: metered, maxAgents: 7, colour: red }']);
      const line = readFileSync(file(), 'utf8').trimEnd().split('\n').length;
      await eventually(async () =>
        expect(await printed()).toContain(`line ${String(line)}: plans[2].colour is not known`),
      );
      const refused = await api.post('/api/agents', { name: 'faulty', templateId: 'blank' }, { key });
      expect([refused.status, codeOf(refused)]).toEqual([402, 'plan_limit_reached']);
      write([DEFAULT, FEW]);
      await eventually(async () =>
        expect(await printed()).toContain('plans must keep none, which accounts have'),
      );
      await give(id, 'default');
    });
  });

  describe('a seat plan', () => {
    it('divides the price of the day among active agents, and stops with the plan', async () => {
      write([DEFAULT, FEW, NONE, '{ id: seats, hosting: seat, priceCentsPerMonth: 3000 }']);
      const { id, key } = await eventually(() => openedWith('seats'));
      const usage = async () => (await api.get<SeatUsage>('/api/v1/usage/daily', { key })).body;
      const { totals: before } = await usage();
      expect([before.hostingCents, before.unallocatedCents > 0]).toEqual([0, true]);
      const ids = [await runningAgentOf(api, key, BLANK), await runningAgentOf(api, key, BLANK)];
      await eventually(async () => {
        const { rows, totals } = await usage();
        expect(rows.map(({ agentId }) => agentId).toSorted()).toEqual(expect.arrayContaining(ids.toSorted()));
        expect(new Set(rows.map(({ hostingBasis }) => hostingBasis))).toEqual(new Set(['allocated']));
        const sum = rows.reduce((cents, { hostingCents }) => cents + millionths(hostingCents), 0);
        const dates = [...new Set(rows.map(({ date }) => date))];
        expect([sum, totals.unallocatedCents]).toEqual([
          dates.reduce((all, date) => all + shareOf(date), 0),
          0,
        ]);
      });
      await give(id, 'default');
      await eventually(async () => {
        const { rows, totals } = await usage();
        expect(rows.at(-1)?.hostingBasis).toBe('metered');
        expect([totals.hostingCents, totals.unallocatedCents]).toEqual([0, 0]);
      });
    });
  });
};

interface SeatUsage {
  readonly rows: readonly {
    readonly date: string;
    readonly agentId: string;
    readonly hostingBasis: string;
    readonly hostingCents: number;
  }[];
  readonly totals: { readonly hostingCents: number; readonly unallocatedCents: number };
}

const millionths = (cents: number): number => Math.round(cents * 1_000_000);

/** The price of a day of a month that costs 3,000 cents, in millionths. */
const shareOf = (date: string): number => {
  const [year = 0, month = 0, day = 0] = date.split('-').map(Number);
  const days = new Date(Date.UTC(year, month, 0)).getUTCDate();
  const price = millionths(3_000);
  return Math.floor(price / days) + (day <= price % days ? 1 : 0);
};

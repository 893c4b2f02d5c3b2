import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServedBilling, ToldAgent, type Told } from './fixtures/served-billing.fixture.js';

let billing: ServedBilling;

beforeAll(async () => {
  billing = await ServedBilling.start();
});
afterAll(() => billing.stop());

const NOVEMBER = { from: '2026-11-01T00:00:00Z', to: '2026-11-20T00:00:00Z' };

/** An agent that ran for ten seconds on November 10. */
const history = (agent: ToldAgent, creation: Parameters<ToldAgent['created']>[1]): readonly Told[] => {
  const at = (time: string): string => `2026-11-10T${time}Z`;
  return [
    agent.created(at('08:00:00.000'), creation),
    agent.starting(at('08:00:00.000')),
    agent.started(at('08:00:01.000')),
    agent.chat(at('08:00:02.000')),
    agent.stopped(at('08:00:11.000')),
  ];
};

describe('usage of one end user or agent', () => {
  it('has only the rows of that agent or end user, and totals of these rows alone', async () => {
    const accountId = newId('acc');
    const [ada, bob] = [billing.person(), billing.person()];
    const [adas, alsoAdas, bobs, ours] = [new ToldAgent(), new ToldAgent(), new ToldAgent(), new ToldAgent()];
    const owned = [
      [adas, { owner: { key: ada, externalUserId: 'ada' } }],
      [alsoAdas, { owner: { key: ada, externalUserId: 'ada' } }],
      [bobs, { owner: { key: bob, externalUserId: 'bob' } }],
      [ours, {}],
    ] as const;
    for (const [agent, creation] of owned) await billing.tell(accountId, ...history(agent, creation));
    const idsIn = async (filter: object): Promise<readonly string[]> => {
      const request = { ...NOVEMBER, ...filter };
      const { rows, totals } = await billing.usage(accountId, request);
      const daily = await billing.daily(accountId, request);
      expect(daily.totals).toEqual(totals);
      expect(new Set(daily.rows.map(({ agentId }) => agentId))).toEqual(
        new Set(rows.map(({ agentId }) => agentId)),
      );
      expect(totals).toMatchObject({ activeSeconds: 10 * rows.length, chats: rows.length });
      return rows.map(({ agentId }) => agentId);
    };
    const both = [adas.id, alsoAdas.id].toSorted();
    expect(await idsIn({})).toHaveLength(4);
    expect(await idsIn({ externalUserId: 'ada' })).toEqual(both);
    expect(await idsIn({ externalUserId: 'bob' })).toEqual([bobs.id]);
    expect(await idsIn({ agentId: ours.id })).toEqual([ours.id]);
    expect(await idsIn({ externalUserId: 'ada', agentId: adas.id })).toEqual([adas.id]);
    expect(await idsIn({ externalUserId: 'ada', agentId: bobs.id })).toEqual([]);
    expect(await idsIn({ externalUserId: 'nobody' })).toEqual([]);
    expect(await idsIn({ agentId: newId('agt') })).toEqual([]);
    const other = await billing.usage(newId('acc'), { ...NOVEMBER, agentId: ours.id });
    expect(other.rows).toEqual([]);
  });
});

describe('usage of an end user who is deleted', () => {
  it('keeps its rows and totals without names and external ids, also after a rebuild', async () => {
    const accountId = newId('acc');
    const ada = billing.person();
    const [adas, ours] = [new ToldAgent(), new ToldAgent()];
    await billing.tell(
      accountId,
      ...history(adas, { name: 'ada', externalId: 'x-1', owner: { key: ada, externalUserId: 'ada' } }),
      ...history(ours, { name: 'ours', externalId: 'x-2' }),
    );
    const named = { agentId: adas.id, agentName: 'ada', externalId: 'x-1', externalUserId: 'ada' };
    const kept = { agentId: ours.id, agentName: 'ours', externalId: 'x-2', externalUserId: null };
    // A report may be of a moment up to 2 s earlier.
    const before = await eventually(async () => {
      const report = await billing.usage(accountId, NOVEMBER);
      expect(report.rows.toSorted(byName)).toMatchObject([named, kept]);
      // The rows exist before the whole history is in them.
      expect(report.totals).toMatchObject({ activeSeconds: 20, chats: 2 });
      return report;
    });
    await billing.tell(accountId, adas.deleted('2026-11-11T00:00:00.000Z'), deletionOf(ada.endUserId));
    const unnamed = { agentId: adas.id, agentName: null, externalId: null, externalUserId: null };
    const deleted = await eventually(async () => {
      const report = await billing.usage(accountId, NOVEMBER);
      expect(report.rows).toContainEqual(expect.objectContaining(unnamed));
      return report;
    });
    const expectForgotten = async (): Promise<void> => {
      const { rows, totals } = await billing.usage(accountId, NOVEMBER);
      const daily = await billing.daily(accountId, NOVEMBER);
      for (const row of [...rows, ...daily.rows])
        expect(row).toMatchObject(row.agentId === ours.id ? kept : unnamed);
      expect(rows).toHaveLength(2);
      expect(rows).toEqual(deleted.rows);
      expect(totals).toEqual(deleted.totals);
      expect(totals).toEqual(before.totals);
      expect(await billing.usage(accountId, { ...NOVEMBER, externalUserId: 'ada' })).toMatchObject({
        rows: [],
      });
      const [found] = await billing.database.query<{ stored: string }>(
        "SELECT string_agg(concat_ws(' ', name, external_id, external_user_id), ' ') AS stored FROM usage_agents WHERE account_id = $1",
        [accountId],
      );
      expect(found?.stored).toContain('ours');
      expect(found?.stored).not.toMatch(/ada|x-1/);
    };
    await expectForgotten();
    // The deletion destroys the key.
    billing.keys.delete(ada.endUserId);
    await billing.rebuild();
    await expectForgotten();
  });
});

const byName = (a: { agentName: string | null }, b: { agentName: string | null }): number =>
  (a.agentName ?? '') < (b.agentName ?? '') ? -1 : 1;

const deletionOf = (endUserId: string): Told => ({
  stream: `endUser-${endUserId}`,
  type: 'EndUserDeleted',
  data: { endUserId, at: '2026-11-11T00:00:01.000Z' },
});

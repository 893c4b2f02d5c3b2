import { auditRequests, type ListAudit, type RecordRefusal } from '@berth/contracts/audit';
import { newId, type Actor } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actingKey, ServedAudit } from './fixtures/served-audit.fixture.js';

let audit: ServedAudit;

beforeAll(async () => {
  audit = await ServedAudit.start();
});
afterAll(() => audit.stop());

const deletion = async (accountId: string, actor: Actor): Promise<string> => {
  const agentId = newId('agt');
  const told = { type: 'AgentDeletionRequested', data: { agentId } };
  await audit.append(accountId, actor, `agent-${agentId}`, [told]);
  return agentId;
};

describe('the audit of an account', () => {
  it('pages through every act once, newest first, while others are added', async () => {
    const accountId = newId('acc');
    const agents: string[] = [];
    for (let n = 0; n < 5; n++) agents.push(await deletion(accountId, actingKey()));
    await audit.untilListed(accountId, 5);
    const first = await audit.list(accountId, { limit: 2 });
    await deletion(accountId, actingKey());
    await audit.untilListed(accountId, 6);
    const second = await audit.list(accountId, { limit: 2, cursor: first.nextCursor });
    const third = await audit.list(accountId, { limit: 2, cursor: second.nextCursor });
    const seen = [first, second, third].flatMap(({ items }) => items.map(({ resource }) => resource.id));
    expect(seen).toEqual(agents.reverse());
    expect(third.nextCursor).toBeNull();
  });

  it('has nothing of another account, also with its cursor and ids', async () => {
    const [mine, theirs] = [newId('acc'), newId('acc')];
    const actor = actingKey();
    for (let n = 0; n < 3; n++) await deletion(theirs, actor);
    await audit.untilListed(theirs, 3);
    const { nextCursor, items } = await audit.list(theirs, { limit: 1 });
    expect((await audit.list(mine, { cursor: nextCursor })).items).toEqual([]);
    expect((await audit.list(mine, { actor: actor.id })).items).toEqual([]);
    expect((await audit.list(mine, { resource: items[0]?.resource.id ?? '' })).items).toEqual([]);
  });

  it('is filtered by actor, resource, action and time, bounds included, in any combination', async () => {
    const accountId = newId('acc');
    const [one, two] = [actingKey(), actingKey()];
    const first = await deletion(accountId, one);
    const second = await deletion(accountId, two);
    const keyId = newId('key');
    const revoked = { type: 'KeyRevoked', data: { keyId, accountId } };
    await audit.append(accountId, two, `key-${keyId}`, [revoked]);
    const acts = await audit.untilListed(accountId, 3);
    const ids = async (filter: Partial<ListAudit>): Promise<readonly string[]> =>
      (await audit.list(accountId, filter)).items.map(({ resource }) => String(resource.id));
    expect(await ids({ actor: one.id })).toEqual([first]);
    expect(await ids({ resource: second })).toEqual([second]);
    expect(await ids({ action: 'agent.delete' })).toEqual([second, first]);
    expect(await ids({ action: 'agent.delete', actor: two.id })).toEqual([second]);
    const [newest = '', , oldest = ''] = acts.map(({ at }) => at);
    expect(await ids({ from: oldest, to: newest })).toEqual([keyId, second, first]);
    const later = new Date(Date.parse(newest) + 1).toISOString();
    expect(await ids({ from: later })).toEqual([]);
    expect(await ids({ to: new Date(Date.parse(oldest) - 1).toISOString() })).toEqual([]);
  });

  it('refuses a malformed cursor', async () => {
    const forged = [['x', '1'], ['2026-11-23T08:00:00.000Z', "1'"], ['2026-19-99T08:00:00.000Z', '1'], 'x'];
    const cursors = forged.map((value) => Buffer.from(JSON.stringify(value)).toString('base64url'));
    for (const cursor of ['x', ...cursors])
      await expect(audit.list(newId('acc'), { cursor })).rejects.toMatchObject({
        code: 'invalid_request',
        context: { fields: [{ path: 'cursor' }] },
      });
  });
});

describe('a refusal', () => {
  const refusal = (change: Partial<RecordRefusal> = {}): RecordRefusal => ({
    accountId: newId('acc'),
    actor: actingKey(),
    credentialId: newId('key'),
    route: 'POST /api/agents',
    code: 'missing_scope',
    at: Date.UTC(2026, 10, 23, 8, 0, 30),
    ...change,
  });

  it('is recorded once per credential, route and minute, however many gateways report it', async () => {
    const reported = refusal();
    const others = [
      reported,
      { ...reported, at: reported.at + 29_999 },
      { ...reported, at: reported.at + 30_000 },
      { ...reported, route: 'GET /api/v1/keys' },
      { ...reported, credentialId: newId('key') },
    ];
    await Promise.all(
      [...others, ...others].map((one) => audit.requester.request(auditRequests.recordRefusal, one)),
    );
    const acts = await audit.untilListed(reported.accountId, 4);
    expect(acts).toContainEqual(
      expect.objectContaining({
        actor: reported.actor,
        action: 'access.refused',
        resource: { type: 'route', id: 'POST /api/agents' },
        outcome: 'refused',
        details: { code: 'missing_scope' },
      }),
    );
  });
});

describe('the projection', () => {
  it('has the same rows after a rebuild, ids and outcomes included', async () => {
    const accountId = newId('acc');
    const [agentId, changeId] = [newId('agt'), newId('fch')];
    await audit.append(accountId, actingKey(), `agent-${agentId}`, [
      { type: 'AgentCreated.v2', data: { agentId, name: 'ada', templateId: 'echo', externalUserId: null } },
      { type: 'AgentDeletionRequested', data: { agentId } },
    ]);
    const stream = `fileChange-${changeId}`;
    const change = { changeId, agentId, op: 'write', path: '/data/x' };
    await audit.append(accountId, actingKey(), stream, [{ type: 'FileChangeRequested', data: change }]);
    await audit.untilListed(accountId, 3);
    const refused = { changeId, agentId, kind: 'conflict', code: 'path_exists' };
    const told = { type: 'FileChangeRefused', data: refused };
    await audit.append(accountId, actingKey(), stream, [told], false);
    await eventually(async () =>
      expect((await audit.list(accountId, { action: 'file.write' })).items).toMatchObject([
        { outcome: 'refused', details: { path: '/data/x', code: 'path_exists' } },
      ]),
    );
    const live = await audit.rows();
    await audit.rebuild();
    expect(await audit.rows()).toEqual(live);
    expect(live.length).toBeGreaterThan(5);
  });
});

import { randomUUID } from 'node:crypto';
import { auditRequests, type AuditView, type ListAudit, type RecordRefusal } from '@berth/contracts/audit';
import { operationsRequests } from '@berth/contracts/operations';
import { readEnv } from '@berth/config';
import { connectEventStore, type EventData, type EventStore } from '@berth/event-store';
import { newId, type Actor, type Page } from '@berth/kernel';
import { NatsLink, Requester } from '@berth/messaging';
import { openDatabase, type Database } from '@berth/persistence';
import { launchService, type LaunchedService } from '@berth/service';
import { createLogger } from '@berth/telemetry';
import { eventually, startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuditModule } from './audit.module.js';

const log = createLogger({ service: 'audit', level: 'silent' });
let infra: TestInfra;
let link: NatsLink;
let service: LaunchedService;
let store: EventStore;
let database: Database;
let requester: Requester;

beforeAll(async () => {
  infra = await startTestInfra({ parts: ['nats', 'eventStore', 'postgres'] });
  const { natsUrl, eventStoreUrl, databaseUrl } = infra;
  const env = { NATS_URL: natsUrl, EVENTSTORE_URL: eventStoreUrl, DATABASE_URL: databaseUrl };
  service = await launchService(AuditModule, { config: readEnv(env).serviceEnv(), log });
  link = await NatsLink.open({ url: natsUrl, name: 'test', log });
  requester = new Requester(link);
  store = connectEventStore({ url: eventStoreUrl, log });
  const options = { schema: 'audit', migrations: [], applicationName: 'test', log };
  database = await openDatabase({ ...options, url: databaseUrl });
});
afterAll(async () => {
  await database.close();
  await store.close();
  await link.close();
  await service.stop();
  await infra.stop();
});

interface Act {
  readonly type: string;
  readonly data: EventData;
}

const append = (accountId: string, actor: Actor, stream: string, ...acts: readonly Act[]): Promise<unknown> =>
  store.append(
    stream,
    acts.map((act) => ({
      id: randomUUID(),
      ...act,
      metadata: { correlationId: 'req_1', causationId: newId('cmd'), accountId, actor },
    })),
    'no_stream',
  );

const deletion = async (accountId: string, actor: Actor): Promise<string> => {
  const agentId = newId('agt');
  await append(accountId, actor, `agent-${agentId}`, { type: 'AgentDeletionRequested', data: { agentId } });
  return agentId;
};

const list = (accountId: string, filter: Partial<ListAudit> = {}): Promise<Page<AuditView>> =>
  requester.request(auditRequests.list, {
    accountId,
    actor: null,
    resource: null,
    action: null,
    from: null,
    to: null,
    cursor: null,
    limit: 50,
    ...filter,
  });

const untilListed = (accountId: string, count: number): Promise<readonly AuditView[]> =>
  eventually(
    async () => {
      const { items } = await list(accountId, { limit: 200 });
      expect(items).toHaveLength(count);
      return items;
    },
    { timeoutMs: 10_000 },
  );

const key = (): Actor => ({ kind: 'key', id: newId('key') });

describe('the audit of an account', () => {
  it('pages through every act once, newest first, while others are added', async () => {
    const accountId = newId('acc');
    const agents: string[] = [];
    for (let n = 0; n < 5; n++) agents.push(await deletion(accountId, key()));
    await untilListed(accountId, 5);
    const first = await list(accountId, { limit: 2 });
    await deletion(accountId, key());
    await untilListed(accountId, 6);
    const second = await list(accountId, { limit: 2, cursor: first.nextCursor });
    const third = await list(accountId, { limit: 2, cursor: second.nextCursor });
    const seen = [first, second, third].flatMap(({ items }) => items.map(({ resource }) => resource.id));
    expect(seen).toEqual(agents.reverse());
    expect(third.nextCursor).toBeNull();
  });

  it('has nothing of another account, also with its cursor and ids', async () => {
    const [mine, theirs] = [newId('acc'), newId('acc')];
    const actor = key();
    for (let n = 0; n < 3; n++) await deletion(theirs, actor);
    await untilListed(theirs, 3);
    const { nextCursor, items } = await list(theirs, { limit: 1 });
    expect((await list(mine, { cursor: nextCursor })).items).toEqual([]);
    expect((await list(mine, { actor: actor.id })).items).toEqual([]);
    expect((await list(mine, { resource: items[0]?.resource.id ?? '' })).items).toEqual([]);
  });

  it('is filtered by actor, resource, action and time, bounds included, in any combination', async () => {
    const accountId = newId('acc');
    const [one, two] = [key(), key()];
    const first = await deletion(accountId, one);
    const second = await deletion(accountId, two);
    const keyId = newId('key');
    await append(accountId, two, `key-${keyId}`, { type: 'KeyRevoked', data: { keyId, accountId } });
    const acts = await untilListed(accountId, 3);
    const ids = async (filter: Partial<ListAudit>): Promise<readonly string[]> =>
      (await list(accountId, filter)).items.map(({ resource }) => String(resource.id));
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
      await expect(list(newId('acc'), { cursor })).rejects.toMatchObject({
        code: 'invalid_request',
        context: { fields: [{ path: 'cursor' }] },
      });
  });
});

describe('a refusal', () => {
  const refusal = (change: Partial<RecordRefusal> = {}): RecordRefusal => ({
    accountId: newId('acc'),
    actor: key(),
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
      [...others, ...others].map((one) => requester.request(auditRequests.recordRefusal, one)),
    );
    const acts = await untilListed(reported.accountId, 4);
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
    await append(
      accountId,
      key(),
      `agent-${agentId}`,
      { type: 'AgentCreated.v2', data: { agentId, name: 'ada', templateId: 'echo', externalUserId: null } },
      { type: 'AgentDeletionRequested', data: { agentId } },
    );
    const change = { changeId, agentId, op: 'write', path: '/data/x' };
    await append(accountId, key(), `fileChange-${changeId}`, { type: 'FileChangeRequested', data: change });
    await untilListed(accountId, 3);
    await store.append(
      `fileChange-${changeId}`,
      [
        {
          id: randomUUID(),
          type: 'FileChangeRefused',
          data: { changeId, agentId, kind: 'conflict', code: 'path_exists' },
          metadata: { correlationId: 'r', causationId: 'c', accountId, actor: key() },
        },
      ],
      0n,
    );
    await eventually(async () =>
      expect((await list(accountId, { action: 'file.write' })).items).toMatchObject([
        { outcome: 'refused', details: { path: '/data/x', code: 'path_exists' } },
      ]),
    );
    const rows = (): Promise<unknown[]> => database.query('SELECT * FROM audit_list ORDER BY position');
    const live = await rows();
    const { listProjections, rebuildProjection } = operationsRequests('audit');
    await requester.request(rebuildProjection, { name: 'audit-list' });
    await eventually(
      async () => {
        const shown = await requester.requestAll(listProjections, {}, { waitMs: 300 });
        const outcomes = shown.flatMap(({ items }) => items.map(({ lastRebuild }) => lastRebuild?.outcome));
        expect(outcomes).toContain('completed');
      },
      { timeoutMs: 20_000 },
    );
    expect(await rows()).toEqual(live);
    expect(live.length).toBeGreaterThan(5);
  });
});

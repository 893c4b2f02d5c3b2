import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accountsRequests } from '@berth/contracts/accounts';
import { agentsRequests } from '@berth/contracts/agents';
import { DomainError, newId } from '@berth/kernel';
import { FakeResponder } from '@berth/messaging/testing';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aCreation, ServedAgents } from '../fixtures/served-agents.fixture.js';

const folder = mkdtempSync(join(tmpdir(), 'berth-plans-'));
const file = join(folder, 'berth.yaml');
let test: ServedAgents;
let accounts: FakeResponder;
let accountId: string;

beforeAll(async () => {
  writeFileSync(
    file,
    'plans:\n  - { id: default, hosting: metered }\n  - { id: few, hosting: metered, maxAgents: 3 }\n  - { id: none, hosting: metered, maxAgents: 0 }\n',
  );
  test = await ServedAgents.start(file);
  await test.another();
  await test.hosts.add('host1');
  accounts = new FakeResponder(test.natsUrl, [accountsRequests.getAccount]);
  await accounts.open();
});
beforeEach(() => {
  accountId = newId('acc');
  planIs('few');
});
afterAll(async () => {
  await accounts.stop();
  await test.stop();
  rmSync(folder, { recursive: true });
});

const anAccount = (id: string, planId: string) => ({
  id,
  name: 'Acme',
  planId,
  suspended: false,
  suspendedAt: null,
  createdAt: '2026-11-23T00:00:00.000Z',
});

const planIs = (planId: string): void =>
  accounts.on(accountsRequests.getAccount, ({ id }) => anAccount(id, planId));

const create = async (members: Parameters<typeof aCreation>[0] = {}): Promise<string> => {
  const view = await test.create(aCreation({ accountId, ...members }));
  return view.id;
};
const remove = (agentId: string): Promise<unknown> =>
  test.requester.request(agentsRequests.delete, {
    commandId: newId('cmd'),
    accountId,
    actor: { kind: 'key', id: 'key_1' },
    agentId,
  });
const refused = { kind: 'payment_required', code: 'plan_limit_reached' };

describe('the agents of a plan', () => {
  it('are never more than the limit under concurrent creations in two processes', async () => {
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => create()));
    const errors = results.flatMap((result) =>
      result.status === 'rejected' ? [result.reason as unknown] : [],
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    for (const error of errors) expect(error).toMatchObject(refused);
    const listed = await test.database.query('SELECT FROM agent_list WHERE account_id = $1', [accountId]);
    expect(listed).toHaveLength(3);
  });

  it('wait for a creation in another process that is about to take the last places', async () => {
    const { waiting } = await test.database.transaction(async (other) => {
      await other.query(`SELECT pg_advisory_xact_lock(hashtextextended('agents/seats/' || $1, 0))`, [
        accountId,
      ]);
      await other.query(
        `INSERT INTO agent_seats (agent_id, attempt, account_id, taken_at)
         SELECT unnest($1::text[]), 0, $2, now()`,
        [Array.from({ length: 3 }, () => newId('agt')), accountId],
      );
      const creation = create();
      creation.catch(() => undefined);
      await eventually(async () => {
        const locks = await test.database.query(
          `SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database
           WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted`,
        );
        expect(locks).toHaveLength(1);
      });
      return { waiting: creation };
    });
    await expect(waiting).rejects.toMatchObject(refused);
  });

  it('leave room as soon as a deletion is accepted, and not for one more', async () => {
    const [first] = await Promise.all([create(), create(), create()]);
    await expect(create()).rejects.toMatchObject(refused);
    await remove(first);
    await create();
    await expect(create()).rejects.toMatchObject(refused);
  });

  it('do not count a creation that failed, and a refused one leaves its name free', async () => {
    await Promise.all([create(), create()]);
    await test.database.query('ALTER TABLE env_vault RENAME TO env_vault_away');
    await expect(create({ env: [{ key: 'A', value: '1', isSecret: false }] })).rejects.toThrow();
    await test.database.query('ALTER TABLE env_vault_away RENAME TO env_vault');
    const third = await eventually(() => create());
    await expect(create({ name: 'taken' })).rejects.toMatchObject(refused);
    await remove(third);
    await create({ name: 'taken' });
  });

  it('do not count a creation whose process died, ten seconds later', async () => {
    await Promise.all([create(), create()]);
    await test.database.query(
      `INSERT INTO agent_seats (agent_id, attempt, account_id, taken_at)
       VALUES ($1, 0, $2, now()), ($3, 0, $4, now() - interval '11 s')`,
      [newId('agt'), accountId, newId('agt'), newId('acc')],
    );
    await expect(create()).rejects.toMatchObject(refused);
    await test.database.query(`UPDATE agent_seats SET taken_at = now() - interval '11 s'`);
    await create();
  });

  it('are limited by the plan that the account has now', async () => {
    planIs('none');
    await expect(create()).rejects.toMatchObject(refused);
    planIs('default');
    await Promise.all([create(), create(), create(), create()]);
    planIs('few');
    await expect(create()).rejects.toMatchObject(refused);
  });

  it('are limited at once when a limit comes into force: creations that are under way count', async () => {
    planIs('default');
    await Promise.all([create(), create()]);
    // A creation asks twice: before and after it has taken its seat.
    const [asked, gate] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    let requests = 0;
    accounts.on(accountsRequests.getAccount, async ({ id }) => {
      if (++requests === 2) {
        asked.resolve(undefined);
        await gate.promise;
      }
      return anAccount(id, 'default');
    });
    const underWay = create();
    await asked.promise;
    planIs('few');
    try {
      await expect(create()).rejects.toMatchObject(refused);
    } finally {
      gate.resolve(undefined);
    }
    await underWay;
    await expect(create()).rejects.toMatchObject(refused);
  });

  it('without a limit leave no seats behind after a minute', async () => {
    planIs('default');
    await create();
    await test.database.query(`UPDATE agent_seats SET taken_at = now() - interval '61 s'`);
    const agentId = await create();
    const seats = 'SELECT agent_id FROM agent_seats WHERE account_id = $1';
    expect(await test.database.query(seats, [accountId])).toEqual([{ agent_id: agentId }]);
  });

  it('cannot be created while the plan is not known', async () => {
    accounts.on(accountsRequests.getAccount, () => {
      throw new DomainError('unavailable', 'service_unavailable', 'Down.');
    });
    await expect(create()).rejects.toMatchObject({ kind: 'unavailable' });
    planIs('of another file');
    await expect(create()).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('are counted once when a creation is tried again', async () => {
    const command = aCreation({ accountId });
    await Promise.all([test.create(command), test.create(command), test.create(command)]);
    await Promise.all([create(), create()]);
    expect(await test.create(command)).toMatchObject({ name: command.name });
    await expect(create()).rejects.toMatchObject(refused);
  });
});

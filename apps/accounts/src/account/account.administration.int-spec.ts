import {
  accountsRequests,
  FIRST_KEY_SCOPES,
  type AccountView,
  type OpenedAccount,
  type UpdateAccount,
} from '@berth/contracts/accounts';
import { newId } from '@berth/kernel';
import { openDatabase } from '@berth/persistence';
import { operationsRequests } from '@berth/contracts/operations';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { envelope, quiet } from '../running-accounts.fixture.js';
import { ServedAccounts } from '../served-accounts.fixture.js';

let served: ServedAccounts;
let operatorId: string;

beforeAll(async () => {
  served = await ServedAccounts.start(2);
  operatorId = (await served.authenticate(await served.bootstrapKey())).accountId;
});
afterAll(() => served.stop());

const open = (name = 'Acme', commandId = newId('cmd')): Promise<OpenedAccount> =>
  served.requester.request(accountsRequests.openAccount, {
    ...envelope(operatorId),
    commandId,
    name,
    planId: null,
  });

const update = (id: string, change: Partial<UpdateAccount>): Promise<AccountView> =>
  served.requester.request(accountsRequests.updateAccount, {
    ...envelope(operatorId),
    id,
    name: null,
    planId: null,
    suspended: null,
    ...change,
  });

const queryTables = async (sql: string, values: readonly unknown[] = []): Promise<unknown[]> => {
  const database = await openDatabase({
    url: served.infra.databaseUrl,
    schema: 'accounts',
    migrations: [],
    applicationName: 'test',
    log: quiet,
  });
  try {
    return await database.query(sql, values);
  } finally {
    await database.close();
  }
};

describe('an operator', () => {
  it('opens accounts, each with a first key that has every scope except operate', async () => {
    const opened = await open();
    expect(await served.authenticate(opened.key)).toEqual({
      accountId: opened.id,
      keyId: opened.keyId,
      scopes: FIRST_KEY_SCOPES,
      suspended: false,
    });
    const { key: _key, keyId: _keyId, ...view } = opened;
    expect(view).toMatchObject({ name: 'Acme', planId: 'default', suspended: false, suspendedAt: null });
    expect(await served.requester.request(accountsRequests.getAccount, { id: opened.id })).toEqual(view);
  });

  it('gets one account for a command that is sent again, and its key once', async () => {
    const commandId = newId('cmd');
    const { id } = await open('Twice', commandId);
    await expect(open('Twice', commandId)).rejects.toMatchObject({ code: 'key_already_minted' });
    const { items } = await served.requester.request(accountsRequests.listAccounts, {
      cursor: null,
      limit: 200,
    });
    expect(items.filter(({ name }) => name === 'Twice').map((account) => account.id)).toEqual([id]);
  });

  it('pages through all accounts, the newest first', async () => {
    const made = [(await open('p1')).id, (await open('p2')).id, (await open('p3')).id].reverse();
    const page = (cursor: string | null) =>
      served.requester.request(accountsRequests.listAccounts, { cursor, limit: 2 });
    const first = await page(null);
    await open('between');
    const second = await page(first.nextCursor);
    expect([...first.items, ...second.items].map(({ id }) => id).slice(0, 3)).toEqual(made);
  });

  it('mints another first key for an account', async () => {
    const { id, key } = await open();
    const request = { ...envelope(operatorId), id };
    const minted = await served.requester.request(accountsRequests.mintFirstKey, request);
    expect(await served.authenticate(minted.key)).toMatchObject({ accountId: id, scopes: FIRST_KEY_SCOPES });
    expect(await served.authenticate(key)).toMatchObject({ accountId: id });
    await expect(
      served.requester.request(accountsRequests.mintFirstKey, {
        ...envelope(operatorId),
        id: newId('acc'),
      }),
    ).rejects.toMatchObject({ code: 'account_not_found' });
  });

  it('cannot choose an unknown plan, update an unknown account or suspend the first one', async () => {
    const { id } = await open();
    await expect(update(id, { planId: 'gold' })).rejects.toMatchObject({ code: 'unknown_plan' });
    await expect(update(newId('acc'), { name: 'x' })).rejects.toMatchObject({ code: 'account_not_found' });
    await expect(update(operatorId, { suspended: true })).rejects.toMatchObject({ code: 'first_account' });
    expect(await served.authenticate(await served.bootstrapKey())).toMatchObject({ accountId: operatorId });
  });
});

describe('a suspended account', () => {
  it('is reported as suspended for its keys until it is resumed, and no other account is', async () => {
    const [{ id, key }, other] = [await open(), await open()];
    expect(await update(id, { suspended: true })).toMatchObject({
      suspended: true,
      suspendedAt: expect.any(String),
    });
    expect(await served.authenticate(key)).toMatchObject({ accountId: id, suspended: true });
    expect(await served.authenticate(other.key)).toMatchObject({ accountId: other.id, suspended: false });
    expect(await update(id, { suspended: false })).toMatchObject({ suspended: false, suspendedAt: null });
    expect(await served.authenticate(key)).toMatchObject({ accountId: id, suspended: false });
  });

  it('is reported as suspended by every call that begins after the suspension returned, on two loaded instances', async () => {
    const { id, key } = await open();
    let hasReturned = false;
    const accepted: boolean[] = [];
    const callers = Array.from({ length: 8 }, async () => {
      while (accepted.length < 60) {
        const isLate = hasReturned;
        const { suspended } = await served.authenticate(key);
        if (isLate) accepted.push(!suspended);
      }
    });
    await update(id, { suspended: true });
    hasReturned = true;
    await Promise.all(callers);
    expect(accepted).not.toContain(true);
  });

  it('is the only one reported when several accounts are looked up at once', async () => {
    const [barred, other] = [await open(), await open()];
    const asked = { accountIds: [other.id, barred.id, newId('acc')] };
    const suspended = () => served.requester.request(accountsRequests.suspended, asked);
    expect(await suspended()).toEqual({ accountIds: [] });
    await update(barred.id, { suspended: true });
    expect(await suspended()).toEqual({ accountIds: [barred.id] });
    await update(barred.id, { suspended: false });
    expect(await suspended()).toEqual({ accountIds: [] });
  });

  it('stays suspended if the suspension was interrupted after its event was appended', async () => {
    const { id, key } = await open();
    await update(id, { suspended: true });
    await queryTables('DELETE FROM account_standing WHERE account_id = $1', [id]);
    expect(await served.authenticate(key)).toMatchObject({ accountId: id, suspended: true });
  });
});

describe('the list of accounts', () => {
  it('has the same rows after a rebuild', async () => {
    const { id } = await open('Before');
    await update(id, { name: 'After', suspended: true });
    await update((await open('Resumed')).id, { suspended: true }).then((account) =>
      update(account.id, { suspended: false }),
    );
    const rows = (): Promise<unknown[]> => queryTables('SELECT * FROM account_list ORDER BY id');
    const live = await rows();
    const { listProjections, rebuildProjection } = operationsRequests('accounts');
    await served.requester.request(rebuildProjection, { name: 'account-list' });
    await eventually(async () => {
      const shown = await served.requester.requestAll(listProjections, {}, { waitMs: 300 });
      const outcomes = shown.flatMap(({ items }) => items.map(({ lastRebuild }) => lastRebuild?.outcome));
      expect(outcomes).toContain('completed');
    });
    expect(await rows()).toEqual(live);
  });
});

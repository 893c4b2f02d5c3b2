import type { RecordedEvent } from '@berth/event-store';
import { newId } from '@berth/kernel';
import { startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { envelope, openAccount, runAccounts, type RunningAccounts } from '../running-accounts.fixture.js';
import { keyListProjection } from './key-list.projection.js';

let infra: TestInfra;
let running: RunningAccounts;

beforeAll(async () => {
  infra = await startTestInfra({ parts: ['eventStore', 'postgres'] });
  running = await runAccounts(infra);
});

afterAll(async () => {
  await running.stop();
  await infra.stop();
});

const mint = (accountId: string, name: string) =>
  running.keys.mint({
    ...envelope(accountId),
    name,
    scopes: ['read', 'manage'],
    holderScopes: ['manage'],
    expiresAt: name === 'expiring' ? '2099-01-01T00:00:00.000Z' : null,
  });

const rowsOf = (relation: string) => running.database.query(`SELECT * FROM ${relation} ORDER BY id`);

describe('the list of keys', () => {
  it('returns each existing key once, newest first, even if another is minted between two pages', async () => {
    const accountId = await openAccount(running);
    const names = ['a', 'b', 'c', 'd', 'e'];
    for (const name of names) await mint(accountId, name);
    const page = (cursor: string | null) => running.keyList.run({ accountId, cursor, limit: 2 });
    const first = await page(null);
    await mint(accountId, 'later');
    const second = await page(first.nextCursor);
    const third = await page(second.nextCursor);
    const seen = [first, second, third].flatMap(({ items }) => items.map(({ name }) => name));
    expect(seen).toEqual(names.reverse());
    expect(third.nextCursor).toBeNull();
  });

  it('returns no cursor with a last page that is exactly full', async () => {
    const accountId = await openAccount(running);
    await mint(accountId, 'a');
    expect(await running.keyList.run({ accountId, cursor: null, limit: 1 })).toMatchObject({
      nextCursor: null,
    });
  });

  it('never shows the keys of another account', async () => {
    await mint(await openAccount(running), 'theirs');
    const mine = await openAccount(running);
    expect(await running.keyList.run({ accountId: mine, cursor: null, limit: 50 })).toEqual({
      items: [],
      nextCursor: null,
    });
  });

  it('refuses a malformed cursor and one of another list', async () => {
    const accountId = newId('acc');
    for (const cursor of ['x', 'bm9uZQ', Buffer.from('"agt_1"').toString('base64url')]) {
      await expect(running.keyList.run({ accountId, cursor, limit: 50 })).rejects.toMatchObject({
        kind: 'invalid',
        context: { fields: [{ path: 'cursor' }] },
      });
    }
  });
});

describe('the projection', () => {
  const fill = async (): Promise<void> => {
    const accountId = await openAccount(running);
    const revoked = await mint(accountId, 'revoked');
    await mint(accountId, 'expiring');
    await running.keys.revoke({ ...envelope(accountId), keyId: revoked.id });
  };

  it('has the same rows after a rebuild', async () => {
    await fill();
    const live = await rowsOf('key_list');
    await running.keyListRunner.rebuild(() => undefined, new AbortController().signal);
    expect(await rowsOf('key_list')).toEqual(live);
    expect(live.length).toBeGreaterThan(1);
  });

  it('makes the same rows when it receives every event repeatedly', async () => {
    await fill();
    const events: RecordedEvent[] = [];
    for (const { id } of await running.database.query<{ id: string }>('SELECT id FROM key_list')) {
      events.push(...(await running.store.read(`key-${id}`)));
    }
    await running.database.transaction(async (tx) => {
      await keyListProjection.createTables(tx, 'twice');
      await keyListProjection.apply(tx, 'twice', events);
      for (const event of events) await keyListProjection.apply(tx, 'twice', [event, event]);
    });
    expect(await rowsOf('key_list_twice')).toEqual(await rowsOf('key_list'));
    await running.database.transaction((tx) => keyListProjection.dropTables(tx, 'twice'));
  });

  it('serves readers without a gap while it is rebuilt', async () => {
    await fill();
    const rebuilding = running.keyListRunner.rebuild(() => undefined, new AbortController().signal);
    let done = false;
    void rebuilding.finally(() => (done = true));
    const before = (await rowsOf('key_list')).length;
    while (!done) expect((await rowsOf('key_list')).length).toBe(before);
    await rebuilding;
  });
});

import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SCOPES, accountsRequests, type KeyRevokedEvent } from '@berth/contracts/accounts';
import { operationsRequests } from '@berth/contracts/operations';
import { connectEventStore } from '@berth/event-store';
import { EventConsumer, type ReceivedEvent } from '@berth/messaging';
import { openDatabase } from '@berth/persistence';
import { Supervisor } from '@berth/supervision';
import { createLogger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { envelope, hashOf, quiet } from './running-accounts.fixture.js';
import { readAccountsConfig } from './config.js';
import { ServedAccounts } from './served-accounts.fixture.js';

const logged: string[] = [];
let served: ServedAccounts;

beforeAll(async () => {
  const destination = { write: (line: string) => void logged.push(line) };
  // Two concurrently on a fresh installation, as when a cluster starts.
  served = await ServedAccounts.start(2, createLogger({ service: 'accounts', level: 'trace', destination }));
});

afterAll(() => served.stop());

describe('the service on a fresh installation', () => {
  it('has one account with one key of every scope, with any number of concurrent first starts', async () => {
    const principal = await served.authenticate(await served.bootstrapKey());
    expect(principal.scopes).toEqual(SCOPES);
    const list = { accountId: principal.accountId, cursor: null, limit: 50 };
    const keys = [{ id: principal.keyId, name: 'bootstrap' }];
    // The first start that did not create the account may serve before its list contains the key.
    await eventually(async () => {
      const page = await served.requester.request(accountsRequests.listKeys, list);
      expect(page.items.map(({ id, name }) => ({ id, name }))).toEqual(keys);
    });
  });

  it('keeps the key in a file of mode 0600 in a folder of mode 0700', async () => {
    expect((await stat(served.config.bootstrapKeyFile)).mode & 0o777).toBe(0o600);
    expect((await stat(dirname(served.config.bootstrapKeyFile))).mode & 0o777).toBe(0o700);
  });

  it('writes no key and no hash to its log', async () => {
    const key = await served.bootstrapKey();
    const minted = await served.mint();
    expect(logged.length).toBeGreaterThan(0);
    for (const secret of [key, minted.key, hashOf(key).keyHash, hashOf(minted.key).keyHash]) {
      expect(logged.join('')).not.toContain(secret);
    }
  });
});

describe('the service over the broker', () => {
  it('accepts a key from the response of minting to the response of revoking, on every instance', async () => {
    const minted = await served.mint();
    const before = await Promise.allSettled(
      Array.from({ length: 50 }, () => served.authenticate(minted.key)),
    );
    expect(before.filter(({ status }) => status === 'rejected')).toEqual([]);
    const view = await served.requester.request(accountsRequests.revokeKey, {
      ...envelope(minted.accountId),
      keyId: minted.id,
    });
    const after = await Promise.allSettled(
      Array.from({ length: 200 }, () => served.authenticate(minted.key)),
    );
    expect(after.filter(({ status }) => status === 'fulfilled')).toEqual([]);
    expect(view).toMatchObject({ id: minted.id, revokedAt: expect.any(String) });
    expect(view).not.toHaveProperty('key');
  });

  it('accepts the id of a key as long as the key', async () => {
    const { id, accountId, scopes, key } = await served.mint();
    const byId = () => served.requester.request(accountsRequests.authenticateId, { keyId: id });
    expect(await byId()).toEqual(await served.authenticate(key));
    expect(await byId()).toMatchObject({ accountId, keyId: id, scopes, suspended: false });
    await served.requester.request(accountsRequests.revokeKey, { ...envelope(accountId), keyId: id });
    for (const outcome of await Promise.allSettled(Array.from({ length: 50 }, byId)))
      expect(outcome).toMatchObject({ status: 'rejected', reason: { kind: 'unauthenticated' } });
  });

  it('accepts no call that begins after a revocation returned, under constant load', async () => {
    const minted = await served.mint();
    let revokedAt = Number.POSITIVE_INFINITY;
    let late = 0;
    const callers = Array.from({ length: 8 }, async () => {
      for (;;) {
        const begunAt = performance.now();
        const passed = await served.authenticate(minted.key).then(
          () => true,
          () => false,
        );
        if (passed && begunAt > revokedAt) late++;
        if (begunAt > revokedAt + 300) return;
      }
    });
    await served.requester.request(accountsRequests.revokeKey, {
      ...envelope(minted.accountId),
      keyId: minted.id,
    });
    revokedAt = performance.now();
    await Promise.all(callers);
    expect(late).toBe(0);
  });

  it('mints keys with the scope operate for the first account', async () => {
    const minted = await served.mint({ scopes: ['operate'] });
    expect(await served.authenticate(minted.key)).toMatchObject({ scopes: ['read', 'operate'] });
  });

  it('returns refusals with kind, code and context', async () => {
    await expect(
      served.mint({ holderScopes: ['read', 'manage'], scopes: ['computers'] }),
    ).rejects.toMatchObject({
      kind: 'forbidden',
      code: 'missing_scope',
      context: { requiredScope: 'computers' },
    });
    await expect(served.mint({ name: '' })).rejects.toMatchObject({
      kind: 'invalid',
      context: { fields: [{ path: 'name' }] },
    });
    await expect(served.authenticate('mk_unknown')).rejects.toMatchObject({ kind: 'unauthenticated' });
  });

  it('shows a minted and a revoked key in the list immediately, on every instance', async () => {
    const minted = await served.mint({ name: 'listed' });
    const list = () =>
      served.requester.request(accountsRequests.listKeys, {
        accountId: minted.accountId,
        cursor: null,
        limit: 1,
      });
    for (let call = 0; call < 10; call++)
      expect((await list()).items[0]).toMatchObject({ id: minted.id, revokedAt: null });
    await served.requester.request(accountsRequests.revokeKey, {
      ...envelope(minted.accountId),
      keyId: minted.id,
    });
    for (let call = 0; call < 10; call++)
      expect((await list()).items[0]?.revokedAt).toEqual(expect.any(String));
  });

  it('publishes that a key was revoked', async () => {
    const received: ReceivedEvent[] = [];
    const database = await openDatabase({
      url: served.infra.databaseUrl,
      schema: 'listener',
      migrations: [],
      applicationName: 'listener',
      log: quiet,
    });
    const store = connectEventStore({ url: served.infra.eventStoreUrl, log: quiet });
    const consumer = new EventConsumer({
      link: served.link,
      store,
      database,
      context: 'accounts',
      durable: 'test-listener',
      filterSubjects: ['evt.accounts.key-revoked.v1.*.*'],
      handle: async (event) => void received.push(event),
      log: quiet,
    });
    const supervisor = new Supervisor('test', quiet);
    supervisor.start('consumer', (signal) => consumer.run(signal));
    const minted = await served.mint();
    await served.requester.request(accountsRequests.revokeKey, {
      ...envelope(minted.accountId),
      keyId: minted.id,
    });
    const event = await eventually(() => {
      const found = received.find(
        ({ payload }) => (payload as unknown as KeyRevokedEvent).keyId === minted.id,
      );
      if (found === undefined) throw new Error('not received yet');
      return found;
    });
    expect(event.payload).toEqual({ accountId: minted.accountId, keyId: minted.id, at: expect.any(String) });
    await supervisor.stop();
    await store.close();
    await database.close();
  });
});

describe('idle instances', () => {
  it('together hold a single connection to PostgreSQL, for the locks of the leading instance', async () => {
    const options = { schema: 'observer', migrations: [], applicationName: 'observer', log: quiet };
    const observer = await openDatabase({ ...options, url: served.infra.databaseUrl });
    try {
      await Promise.all(
        Array.from({ length: 50 }, () => served.authenticate('mk_unknown').catch(() => null)),
      );
      const sessions = (): Promise<unknown[]> =>
        observer.query(
          `SELECT 1 FROM pg_stat_activity
           WHERE application_name = 'berth-accounts' AND datname = current_database()`,
        );
      expect((await sessions()).length).toBeGreaterThan(2);
      await eventually(async () => expect(await sessions()).toHaveLength(1), { timeoutMs: 20_000 });
    } finally {
      await observer.close();
    }
  });
});

describe("the service's projections", () => {
  const { listProjections, rebuildProjection } = operationsRequests('accounts');

  it('are shown by every instance', async () => {
    const responses = await served.requester.requestAll(listProjections, {}, { waitMs: 1_500 });
    expect(responses).toHaveLength(2);
    for (const { items } of responses) {
      expect([...items].sort((a, b) => a.name.localeCompare(b.name))).toMatchObject([
        { name: 'account-list', service: 'accounts', version: 1, rebuilding: null },
        { name: 'key-list', service: 'accounts', version: 1, rebuilding: null },
      ]);
    }
  });

  it('are rebuilt on request, while the service continues', async () => {
    const view = await served.requester.request(rebuildProjection, { name: 'key-list' });
    expect(view.rebuilding).not.toBeNull();
    const key = await served.bootstrapKey();
    await eventually(async () => {
      await served.authenticate(key);
      const responses = await served.requester.requestAll(listProjections, {}, { waitMs: 300 });
      expect(
        responses.flatMap(({ items }) => items.map(({ lastRebuild }) => lastRebuild?.outcome)),
      ).toContain('completed');
    });
    expect((await served.mint({ name: 'after the rebuild' })).id).toMatch(/^key_/);
  });

  it('of other names are not found', async () => {
    for (const name of ['nonsense', 'toString', '']) {
      await expect(served.requester.request(rebuildProjection, { name })).rejects.toMatchObject({
        kind: 'not_found',
        code: 'projection_not_found',
      });
    }
  });
});

describe('the socket that recovers keys', () => {
  it('is in the data folder, which the service creates, wherever the file of the first key is', async () => {
    const folder = dirname(served.config.bootstrapKeyFile);
    const keyFile = join(folder, 'keys/first-key');
    const data = join(folder, 'not-there-yet');
    const { recoverySocket } = readAccountsConfig({
      NATS_URL: served.config.natsUrl,
      EVENTSTORE_URL: served.config.eventStoreUrl,
      DATABASE_URL: served.config.databaseUrl,
      BERTH_DATA: data,
      BERTH_BOOTSTRAP_KEY_FILE: keyFile,
    });
    await served.startAnother({ recoverySocket });
    expect((await stat(data)).mode & 0o777).toBe(0o700);
    const socket = await stat(join(data, 'accounts.sock'));
    expect([socket.isSocket(), socket.mode & 0o777]).toEqual([true, 0o600]);
  });
});

import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  SCOPES,
  accountsRequests,
  type KeyRevokedEvent,
  type MintKey,
  type MintedKey,
  type Principal,
} from '@berth/contracts-accounts';
import { operationsRequests } from '@berth/contracts-operations';
import { EventConsumer, NatsLink, Requester, type ReceivedEvent } from '@berth/messaging';
import { openDatabase } from '@berth/persistence';
import type { Stoppable } from '@berth/service';
import { createLogger } from '@berth/telemetry';
import { TcpProxy, eventually, startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readAccountsConfig, startAccounts, type AccountsConfig } from './index.js';
import { envelope, hashOf, quiet } from './running-accounts.fixture.js';

let infra: TestInfra;
let folder: string;
let config: AccountsConfig;
let proxies: { readonly eventStore: TcpProxy; readonly postgres: TcpProxy };
let link: NatsLink;
let requester: Requester;
const services: Stoppable[] = [];
const logged: string[] = [];

const portOf = (url: string): number => Number(/:(\d+)(?=[/?]|$)/.exec(url)?.[1]);
const through = (proxy: TcpProxy, url: string): string => url.replace(`:${portOf(url)}`, `:${proxy.port}`);

beforeAll(async () => {
  infra = await startTestInfra({ parts: ['nats', 'eventStore', 'postgres'] });
  folder = await mkdtemp(join(tmpdir(), 'berth-accounts-'));
  proxies = {
    eventStore: await TcpProxy.start(portOf(infra.eventStoreUrl)),
    postgres: await TcpProxy.start(portOf(infra.databaseUrl)),
  };
  config = readAccountsConfig({
    NATS_URL: infra.natsUrl,
    EVENTSTORE_URL: through(proxies.eventStore, infra.eventStoreUrl),
    DATABASE_URL: through(proxies.postgres, infra.databaseUrl),
    BERTH_DATA: join(folder, 'data'),
  });
  link = await NatsLink.open({ url: infra.natsUrl, name: 'test', log: quiet });
  requester = new Requester(link);
  const log = createLogger({
    service: 'accounts',
    level: 'trace',
    destination: { write: (line) => void logged.push(line) },
  });
  // Two at once on a fresh installation, as when a cluster is started.
  services.push(...(await Promise.all([startAccounts(config, log), startAccounts(config, log)])));
});

afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()));
  await link.close();
  await Promise.all(Object.values(proxies).map((proxy) => proxy.stop()));
  await infra.stop();
  await rm(folder, { recursive: true });
});

const bootstrapKey = async (): Promise<string> => (await readFile(config.bootstrapKeyFile, 'utf8')).trim();
const authenticate = (key: string): Promise<Principal> =>
  requester.request(accountsRequests.authenticate, hashOf(key));
const mint = async (change: Partial<MintKey> = {}): Promise<MintedKey> => {
  const { accountId, scopes } = await authenticate(await bootstrapKey());
  const command: MintKey = {
    ...envelope(accountId),
    name: 'ci',
    scopes: ['deploy'],
    holderScopes: scopes,
    expiresAt: null,
    ...change,
  };
  return requester.request(accountsRequests.mintKey, command);
};

describe('the service on a fresh installation', () => {
  it('has one account with one key of every scope, however many of it started at once', async () => {
    const principal = await authenticate(await bootstrapKey());
    expect(principal.scopes).toEqual(SCOPES);
    const page = await requester.request(accountsRequests.listKeys, {
      accountId: principal.accountId,
      cursor: null,
      limit: 50,
    });
    expect(page.items.map(({ id, name }) => ({ id, name }))).toEqual([
      { id: principal.keyId, name: 'bootstrap' },
    ]);
  });

  it('keeps the key in a file of mode 0600 in a folder of mode 0700', async () => {
    expect((await stat(config.bootstrapKeyFile)).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, 'data'))).mode & 0o777).toBe(0o700);
  });

  it('writes no key and no hash to its log', async () => {
    const key = await bootstrapKey();
    const minted = await mint();
    expect(logged.length).toBeGreaterThan(0);
    for (const secret of [key, minted.key, hashOf(key).keyHash, hashOf(minted.key).keyHash]) {
      expect(logged.join('')).not.toContain(secret);
    }
  });
});

describe('the service over the broker', () => {
  it('lets a key in from the answer of minting to the answer of revoking, on every instance', async () => {
    const minted = await mint();
    const before = await Promise.allSettled(Array.from({ length: 50 }, () => authenticate(minted.key)));
    expect(before.filter(({ status }) => status === 'rejected')).toEqual([]);
    const view = await requester.request(accountsRequests.revokeKey, {
      ...envelope(minted.accountId),
      keyId: minted.id,
    });
    const after = await Promise.allSettled(Array.from({ length: 200 }, () => authenticate(minted.key)));
    expect(after.filter(({ status }) => status === 'fulfilled')).toEqual([]);
    expect(view).toMatchObject({ id: minted.id, revokedAt: expect.any(String) });
    expect(view).not.toHaveProperty('key');
  });

  it('has no call pass that begins after a revoke answered while calls go on all the time', async () => {
    const minted = await mint();
    let revokedAt = Number.POSITIVE_INFINITY;
    let late = 0;
    const callers = Array.from({ length: 8 }, async () => {
      for (;;) {
        const begunAt = performance.now();
        const passed = await authenticate(minted.key).then(
          () => true,
          () => false,
        );
        if (passed && begunAt > revokedAt) late++;
        if (begunAt > revokedAt + 300) return;
      }
    });
    await requester.request(accountsRequests.revokeKey, { ...envelope(minted.accountId), keyId: minted.id });
    revokedAt = performance.now();
    await Promise.all(callers);
    expect(late).toBe(0);
  });

  it('answers refusals with kind, code and context', async () => {
    await expect(mint({ holderScopes: ['read', 'manage'], scopes: ['computers'] })).rejects.toMatchObject({
      kind: 'forbidden',
      code: 'missing_scope',
      context: { requiredScope: 'computers' },
    });
    await expect(mint({ name: '' })).rejects.toMatchObject({
      kind: 'invalid',
      context: { fields: [{ path: 'name' }] },
    });
    await expect(authenticate('mk_unknown')).rejects.toMatchObject({ kind: 'unauthenticated' });
  });

  it('shows a minted and a revoked key in the list at once, on every instance', async () => {
    const minted = await mint({ name: 'listed' });
    const list = () =>
      requester.request(accountsRequests.listKeys, { accountId: minted.accountId, cursor: null, limit: 1 });
    for (let call = 0; call < 10; call++)
      expect((await list()).items[0]).toMatchObject({ id: minted.id, revokedAt: null });
    await requester.request(accountsRequests.revokeKey, { ...envelope(minted.accountId), keyId: minted.id });
    for (let call = 0; call < 10; call++)
      expect((await list()).items[0]?.revokedAt).toEqual(expect.any(String));
  });

  it('tells others that a key was revoked', async () => {
    const heard: ReceivedEvent[] = [];
    const database = await openDatabase({
      url: infra.databaseUrl,
      schema: 'listener',
      migrations: [],
      applicationName: 'listener',
      log: quiet,
    });
    const consumer = new EventConsumer({
      link,
      database,
      context: 'accounts',
      durable: 'test-listener',
      filterSubjects: ['evt.accounts.key-revoked.v1.*.*'],
      handle: async (event) => void heard.push(event),
      log: quiet,
    });
    const ending = new AbortController();
    const running = consumer.run(ending.signal);
    const minted = await mint();
    await requester.request(accountsRequests.revokeKey, { ...envelope(minted.accountId), keyId: minted.id });
    const event = await eventually(() => {
      const found = heard.find(({ payload }) => (payload as unknown as KeyRevokedEvent).keyId === minted.id);
      if (found === undefined) throw new Error('not heard yet');
      return found;
    });
    expect(event.payload).toEqual({ accountId: minted.accountId, keyId: minted.id, at: expect.any(String) });
    ending.abort();
    await running;
    await database.close();
  });
});

describe("the service's projections", () => {
  const { listProjections, rebuildProjection } = operationsRequests('accounts');

  it('are shown by every instance', async () => {
    const answers = await requester.requestAll(listProjections, {}, { waitMs: 1_500 });
    expect(answers).toHaveLength(2);
    for (const { items } of answers) {
      expect(items).toMatchObject([{ name: 'key-list', service: 'accounts', version: 1, rebuilding: null }]);
    }
  });

  it('are rebuilt on request, while the service goes on', async () => {
    const view = await requester.request(rebuildProjection, { name: 'key-list' });
    expect(view.rebuilding).not.toBeNull();
    const key = await bootstrapKey();
    await eventually(async () => {
      await authenticate(key);
      const answers = await requester.requestAll(listProjections, {}, { waitMs: 300 });
      expect(answers.flatMap(({ items }) => items.map(({ lastRebuild }) => lastRebuild?.outcome))).toContain(
        'completed',
      );
    });
    expect((await mint({ name: 'after the rebuild' })).id).toMatch(/^key_/);
  });

  it('of other names are not found', async () => {
    for (const name of ['nonsense', 'toString', '']) {
      await expect(requester.request(rebuildProjection, { name })).rejects.toMatchObject({
        kind: 'not_found',
        code: 'projection_not_found',
      });
    }
  });
});

describe('a part that is away', () => {
  const outages = {
    cut: (proxy: TcpProxy) => proxy.cut({ refuse: true }),
    frozen: (proxy: TcpProxy) => proxy.freeze(),
  };

  it.each([
    ['postgres', 'cut'],
    ['postgres', 'frozen'],
    ['eventStore', 'cut'],
    ['eventStore', 'frozen'],
  ] as const)('(%s, %s) is a 503 within 5 s, and all works again when it is back', async (part, how) => {
    const key = await bootstrapKey();
    const call = async (): Promise<unknown> => (part === 'postgres' ? authenticate(key) : mint());
    await call();
    outages[how](proxies[part]);
    const begunAt = performance.now();
    await expect(call()).rejects.toMatchObject({ kind: 'unavailable', code: 'service_unavailable' });
    expect(performance.now() - begunAt).toBeLessThan(5_000);
    if (part === 'eventStore') expect(await authenticate(key)).toMatchObject({ scopes: SCOPES });
    proxies[part].restore();
    await eventually(call, { timeoutMs: 30_000 });
  });
});

describe('a service that is started again', () => {
  it('knows its keys and leaves the key file as it is', async () => {
    const key = await bootstrapKey();
    await rm(config.bootstrapKeyFile);
    await Promise.all(services.splice(0).map((service) => service.stop()));
    services.push(await startAccounts(config, quiet));
    expect(await authenticate(key)).toMatchObject({ scopes: SCOPES });
    await expect(stat(config.bootstrapKeyFile)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

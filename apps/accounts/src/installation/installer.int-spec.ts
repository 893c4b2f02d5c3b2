import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SCOPES, formatKey, type Scope } from '@berth/contracts/accounts';
import { connectEventStore, type EventStore } from '@berth/event-store';
import { newId, systemClock } from '@berth/kernel';
import { openDatabase, type Database, type SqlRunner } from '@berth/persistence';
import { startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { AccountCommandHandler } from '../account/account.command-handler.js';
import { AccountStreams } from '../account/account.streams.js';
import { KeyStreams } from '../key/key.streams.js';
import { KeyVault } from '../key/key-vault.js';
import { EventLogIdentity } from '../key/event-log-identity.js';
import { migrations } from '../migrations.js';
import { hashOf, quiet } from '../running-accounts.fixture.js';
import { createKeyFile } from './bootstrap-key-file.js';
import { InstallationStreams } from './installation.streams.js';
import { Installer } from './installer.js';

let infra: TestInfra;
let database: Database;
let log: EventStore;
let file: string;
let prefix: string;
let tests = 0;

beforeAll(async () => {
  infra = await startTestInfra({ parts: ['eventStore', 'postgres'] });
  log = connectEventStore({ url: infra.eventStoreUrl, log: quiet });
  database = await openDatabase({
    url: infra.databaseUrl,
    schema: 'accounts',
    migrations,
    applicationName: 'install-test',
    log: quiet,
  });
});

afterAll(async () => {
  await log.close();
  await database.close();
  await infra.stop();
});

beforeEach(async () => {
  // Each test has its own streams, which are a fresh installation.
  prefix = `t${++tests}x`;
  const folder = await mkdtemp(join(tmpdir(), 'berth-install-'));
  file = join(folder, 'data', 'bootstrap-key');
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});

/** Counts the writes of a start, and aborts it before or after one of them. */
class Steps {
  private taken = 0;

  constructor(private readonly dieAt = Number.POSITIVE_INFINITY) {}

  async take<T>(step: () => Promise<T>): Promise<T> {
    if (this.taken++ === this.dieAt) throw new Error('killed');
    const result = await step();
    if (this.taken++ === this.dieAt) throw new Error('killed');
    return result;
  }

  get count(): number {
    return this.taken;
  }
}

const starting = (steps = new Steps()): Installer => {
  const store: EventStore = {
    read: (stream, options) => log.read(prefix + stream, options),
    readLast: (stream, count) => log.readLast(prefix + stream, count),
    append: (stream, events, expected) => steps.take(() => log.append(prefix + stream, events, expected)),
    subscribe: (options) => log.subscribe(options),
    eventAt: (position) => log.eventAt(position),
    head: () => log.head(),
    ping: () => log.ping(),
    close: () => log.close(),
  };
  const vaultTables: SqlRunner = { query: (sql, params) => steps.take(() => database.query(sql, params)) };
  const installation = new InstallationStreams(store);
  const accounts = new AccountCommandHandler(new AccountStreams(store), installation, systemClock);
  return new Installer(
    installation,
    accounts,
    new KeyStreams(store),
    new KeyVault(vaultTables, new EventLogIdentity('log_1')),
    systemClock,
    quiet,
  );
};

const keyInFile = async (): Promise<string> => (await readFile(file, 'utf8')).trim();

const validKeys = async (key: string): Promise<{ account_id: string; key_id: string; scopes: string[] }[]> =>
  database.query(
    "SELECT account_id, key_id, scopes FROM accounts_vault.key_secrets WHERE key_hash = decode($1, 'hex')",
    [hashOf(key).keyHash],
  );

const idsInLog = async (): Promise<{ accountId: string; keyId: string }> => {
  const [begun] = await log.read(`${prefix}installation-first`);
  return begun?.data as unknown as { accountId: string; keyId: string };
};

/** Expects one account with one key, which is the key in the file. */
const expectInstalled = async (): Promise<void> => {
  expect(await starting().accounts.firstAccountId()).not.toBeNull();
  const { accountId, keyId } = await idsInLog();
  expect(await validKeys(await keyInFile())).toEqual([
    { account_id: accountId, key_id: keyId, scopes: [...SCOPES] },
  ]);
  expect(await log.read(`${prefix}account-${accountId}`)).toHaveLength(1);
  expect(await log.read(`${prefix}key-${keyId}`)).toHaveLength(1);
  expect(await log.read(`${prefix}installation-first`)).toHaveLength(2);
};

/** Creates the state that a version with only these scopes left. */
const installOlder = async (scopes: readonly Scope[]): Promise<void> => {
  const { installation, accounts, keys, vault } = starting();
  const [accountId, keyId, key] = [newId('acc'), newId('key'), formatKey(randomBytes(32))];
  const meta = { commandId: newId('cmd'), accountId, actor: { kind: 'system', id: 'accounts' } } as const;
  const [now, expiresAt, forFirstAccount] = [Date.now(), null, true];
  await installation.handle('first', { type: 'Begin', accountId, keyId, now }, meta);
  await accounts.open(accountId, newId('cmd'));
  const holder = { holderScopes: scopes, holderExpiresAt: null };
  const mint = { keyId, accountId, name: 'bootstrap', scopes, ...holder } as const;
  await keys.handle(keyId, { type: 'Mint', ...mint, forFirstAccount, expiresAt, now }, meta);
  await vault.store({ keyId, accountId, key, scopes, expiresAt });
  await installation.handle('first', { type: 'Finish', now }, { ...meta, commandId: newId('cmd') });
  await createKeyFile(file, key);
};

describe('the first start', () => {
  it('leaves one account and a key with every scope in the file', async () => {
    await starting().install(file);
    await expectInstalled();
  });

  it('killed before or after any of its steps is finished by the next, with the key that the file had', async () => {
    const whole = new Steps();
    await starting(whole).install(file);
    await rm(file);
    for (let step = 0; step < whole.count; step++) {
      prefix = `t${tests}s${step}x`;
      await expect(starting(new Steps(step)).install(file), `step ${step}`).rejects.toThrow('killed');
      const key = await keyInFile();
      await starting().install(file);
      await expectInstalled();
      expect(await keyInFile()).toBe(key);
      await rm(file);
    }
    expect(whole.count).toBe(12);
  });

  it('killed over and over, a step further each time, still ends with one account and one key', async () => {
    for (let step = 0; step < 12; step++)
      await starting(new Steps(step))
        .install(file)
        .catch(() => undefined);
    await starting().install(file);
    await expectInstalled();
  });

  it('uses the key of a file that was there before', async () => {
    await starting().install(file);
    const mine = formatKey(new Uint8Array(32).fill(tests));
    await writeFile(file, `${mine}\n`);
    prefix = `${prefix}y`;
    await starting().install(file);
    expect(await keyInFile()).toBe(mine);
    await expectInstalled();
  });

  it('uses the key that the file has from an earlier installation whose log was replaced', async () => {
    await starting().install(file);
    const key = await keyInFile();
    prefix = `${prefix}y`;
    await starting().install(file);
    expect(await keyInFile()).toBe(key);
    await expectInstalled();
  });

  it('whose file was lost before the end writes a new one with a valid key', async () => {
    // Step 10 comes just before the last write, which ends the installation; the secret is stored by then.
    await expect(starting(new Steps(10)).install(file)).rejects.toThrow('killed');
    const lost = await keyInFile();
    await rm(file);
    await starting().install(file);
    await expectInstalled();
    expect(await validKeys(lost)).toEqual([]);
  });

  it('runs once when several processes start concurrently', async () => {
    await Promise.all(Array.from({ length: 5 }, () => starting().install(file)));
    await expectInstalled();
  });

  it('stops at a file that holds no key, and changes nothing', async () => {
    await starting().install(file);
    prefix = `${prefix}y`;
    await writeFile(file, 'not a key');
    await expect(starting().install(file)).rejects.toThrow(file);
    expect(await log.read(`${prefix}installation-first`)).toEqual([]);
    expect(await readFile(file, 'utf8')).toBe('not a key');
  });
});

describe('a later start', () => {
  it('does not restore a removed file', async () => {
    await starting().install(file);
    await rm(file);
    await starting().install(file);
    await expect(readFile(file)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('gives the first key of an older installation the scopes that are new, even after interruptions at each step', async () => {
    const older = SCOPES.filter((scope) => scope !== 'operate');
    await installOlder(older);
    const key = await keyInFile();
    const scopes = async (): Promise<unknown> => (await validKeys(key))[0]?.scopes;
    expect(await scopes()).toEqual(older);
    for (const step of [0, 1, 0, 1]) {
      await expect(starting(new Steps(step)).install(file)).rejects.toThrow('killed');
    }
    await starting().install(file);
    expect(await scopes()).toEqual(SCOPES);
    const { keyId } = await idsInLog();
    await starting().install(file);
    expect((await log.read(`${prefix}key-${keyId}`)).map(({ type }) => type)).toEqual([
      'KeyMinted',
      'KeyScopesExtended',
    ]);
  });

  it('ignores the content of the file', async () => {
    await starting().install(file);
    await writeFile(file, 'mine now');
    await starting().install(file);
    expect(await readFile(file, 'utf8')).toBe('mine now');
  });
});

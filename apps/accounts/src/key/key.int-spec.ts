import type { MintKey } from '@berth/contracts/accounts';
import { isWellFormedKey } from '@berth/contracts/accounts';
import { newId, systemClock } from '@berth/kernel';
import type { SqlRunner } from '@berth/persistence';
import { eventually, startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  envelope,
  hashOf,
  openAccount,
  runAccounts,
  type RunningAccounts,
} from '../running-accounts.fixture.js';
import { KeyCommandHandler } from './key.command-handler.js';
import { KeyVault } from './key-vault.js';
import { EventLogIdentity } from './event-log-identity.js';

let infra: TestInfra;
let running: RunningAccounts;
let accountId: string;

beforeAll(async () => {
  infra = await startTestInfra({ parts: ['eventStore', 'postgres'] });
  running = await runAccounts(infra);
  accountId = await openAccount(running);
});

afterAll(async () => {
  await running.stop();
  await infra.stop();
});

const minting = (change: Partial<MintKey> = {}): MintKey => ({
  ...envelope(accountId),
  name: 'ci',
  scopes: ['deploy'],
  holderScopes: ['read', 'deploy', 'manage', 'computers'],
  expiresAt: null,
  ...change,
});
const keys = (): KeyCommandHandler => running.keys;
const authenticate = (key: string) => running.authenticate.run(hashOf(key));
const list = () => running.keyList.run({ accountId, cursor: null, limit: 200 });
const refused = { kind: 'unauthenticated', code: 'unauthenticated' };

/** The command handler with a vault that fails as the network would: before the statement or after it. */
const handlerWithFailingVault = (fail: 'before' | 'after'): KeyCommandHandler => {
  const { database, keyStreams, accounts, usage, keyListRunner } = running;
  const broken: SqlRunner = {
    query: async (sql, params) => {
      if (fail === 'after') await database.query(sql, params);
      throw new Error('The connection broke.');
    },
  };
  return new KeyCommandHandler(
    keyStreams,
    accounts,
    new KeyVault(broken, new EventLogIdentity('log_1')),
    usage,
    keyListRunner,
    systemClock,
  );
};

describe('a minted key', () => {
  it('of an account other than the first never holds operate, regardless of the minting key', async () => {
    const command = minting({ scopes: ['operate'], holderScopes: ['read', 'operate'] });
    await expect(keys().mint(command)).rejects.toMatchObject({
      kind: 'forbidden',
      code: 'missing_scope',
      context: { requiredScope: 'operate' },
    });
    expect((await list()).items).toEqual([]);
  });

  it('is valid and listed as soon as minting returns', async () => {
    const minted = await keys().mint(minting());
    expect(isWellFormedKey(minted.key)).toBe(true);
    expect(await authenticate(minted.key)).toEqual({
      accountId,
      keyId: minted.id,
      scopes: ['read', 'deploy'],
      suspended: false,
    });
    const { key: _, ...view } = minted;
    expect((await list()).items).toContainEqual({
      ...view,
      lastUsedAt: expect.toBeOneOf([null, expect.any(String)]),
    });
  });

  it('is only in the response: not in the log, not in the tables, and its hash only in the vault', async () => {
    const minted = await keys().mint(minting());
    const { keyHash } = hashOf(minted.key);
    const events = JSON.stringify(await running.store.read(`key-${minted.id}`), (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    const rows = JSON.stringify(await running.database.query('SELECT * FROM key_list'));
    for (const text of [events, rows]) {
      expect(text).not.toContain(minted.key);
      expect(text).not.toContain(keyHash);
    }
    expect(
      await running.database.query(
        "SELECT 1 FROM accounts_vault.key_secrets WHERE key_hash = decode($1, 'hex')",
        [keyHash],
      ),
    ).toHaveLength(1);
  });

  it('is minted once by a command that is sent twice; the secret is not shown again', async () => {
    const command = minting({ name: 'once' });
    const minted = await keys().mint(command);
    await expect(keys().mint(command)).rejects.toMatchObject({
      kind: 'conflict',
      code: 'key_already_minted',
      context: { keyId: minted.id },
    });
    expect((await list()).items.filter(({ name }) => name === 'once')).toHaveLength(1);
    expect(await authenticate(minted.key)).toMatchObject({ keyId: minted.id });
  });

  it('is minted once by a command that arrives many times concurrently: one caller gets the secret', async () => {
    const command = minting({ name: 'race' });
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => keys().mint(command)));
    const won = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    expect(won).toHaveLength(1);
    expect(await authenticate(won[0]?.key ?? '')).toMatchObject({ keyId: won[0]?.id });
  });

  it('gets its secret from a retry when minting was interrupted before the vault was written', async () => {
    const command = minting({ name: 'retried' });
    await expect(handlerWithFailingVault('before').mint(command)).rejects.toThrow('broke');
    const minted = await keys().mint(command);
    expect(await authenticate(minted.key)).toMatchObject({ keyId: minted.id });
    expect((await list()).items.filter(({ name }) => name === 'retried')).toHaveLength(1);
  });

  it('whose secret may have been stored gets no second one from a retry', async () => {
    const command = minting();
    await expect(handlerWithFailingVault('after').mint(command)).rejects.toThrow('broke');
    await expect(keys().mint(command)).rejects.toMatchObject({ code: 'key_already_minted' });
  });

  it('never becomes valid when it was revoked while it was being minted', async () => {
    const command = minting();
    await expect(handlerWithFailingVault('before').mint(command)).rejects.toThrow('broke');
    const keyId = `key_${command.commandId.slice(4)}`;
    await keys().revoke({ ...envelope(accountId), keyId });
    const late = { keyId, accountId, key: 'late', scopes: [], expiresAt: null };
    expect(await new KeyVault(running.database, new EventLogIdentity('log_1')).store(late)).toBe(false);
    await expect(authenticate('late')).rejects.toMatchObject(refused);
  });

  it('needs an account that is open', async () => {
    await expect(keys().mint(minting({ accountId: newId('acc') }))).rejects.toMatchObject({
      code: 'account_not_found',
    });
  });

  it('needs a well-formed command id', async () => {
    for (const commandId of ['', 'cmd_', 'cmd_../../x', newId('key')]) {
      await expect(keys().mint(minting({ commandId }))).rejects.toMatchObject({ kind: 'invalid' });
    }
  });
});

describe('a revoked key', () => {
  it('is rejected in each of 200 calls that begin after revoking has returned', async () => {
    const { key, id } = await keys().mint(minting());
    expect(await authenticate(key)).toMatchObject({ keyId: id });
    await keys().revoke({ ...envelope(accountId), keyId: id });
    const calls = await Promise.allSettled(Array.from({ length: 200 }, () => authenticate(key)));
    expect(calls.filter(({ status }) => status === 'fulfilled')).toEqual([]);
  });

  it('is invalid once revoking has returned, and a new one is valid, even while the list is blocked', async () => {
    const { key, id } = await keys().mint(minting());
    await running.database.transaction(async (tx) => {
      // Every writer of the list waits for this row.
      await tx.query("SELECT 1 FROM projections WHERE name = 'key-list' FOR UPDATE");
      await keys().revoke({ ...envelope(accountId), keyId: id });
      await expect(authenticate(key)).rejects.toMatchObject(refused);
      const fresh = await keys().mint(minting());
      expect(await authenticate(fresh.key)).toMatchObject({ keyId: fresh.id });
      expect(await tx.query('SELECT 1 FROM key_list WHERE id = $1', [fresh.id])).toEqual([]);
    });
  });

  it('returns the time of revocation, the same when repeated, and stays listed', async () => {
    const { id } = await keys().mint(minting());
    const first = await keys().revoke({ ...envelope(accountId), keyId: id });
    expect(first.revokedAt).toEqual(expect.any(String));
    expect(await keys().revoke({ ...envelope(accountId), keyId: id })).toEqual(first);
    expect((await list()).items).toContainEqual(first);
  });

  it('becomes invalid by the log alone when revoking was interrupted before the vault was written', async () => {
    const { key, id } = await keys().mint(minting());
    await expect(
      handlerWithFailingVault('before').revoke({ ...envelope(accountId), keyId: id }),
    ).rejects.toThrow('broke');
    await eventually(() => expect(authenticate(key)).rejects.toMatchObject(refused));
  });

  it('has no hash left', async () => {
    const { id } = await keys().mint(minting());
    await keys().revoke({ ...envelope(accountId), keyId: id });
    const sql = 'SELECT key_hash FROM accounts_vault.key_secrets WHERE key_id = $1';
    expect(await running.database.query(sql, [id])).toEqual([{ key_hash: null }]);
  });

  it('is not found by another account, nor by a malformed id', async () => {
    const { id, key } = await keys().mint(minting());
    const other = await openAccount(running);
    for (const command of [
      { ...envelope(other), keyId: id },
      { ...envelope(accountId), keyId: newId('key') },
      { ...envelope(accountId), keyId: 'key_../x' },
    ]) {
      await expect(keys().revoke(command)).rejects.toMatchObject({
        kind: 'not_found',
        code: 'key_not_found',
      });
    }
    expect(await authenticate(key)).toMatchObject({ keyId: id });
  });
});

describe('authentication', () => {
  it('refuses unknown and malformed hashes with the same error', async () => {
    for (const keyHash of ['', 'a'.repeat(64), 'A'.repeat(64), "'; DROP TABLE key_list", 'g'.repeat(64)]) {
      await expect(running.authenticate.run({ keyHash })).rejects.toMatchObject(refused);
    }
  });

  it('refuses a key from the moment it expires', async () => {
    const expiresAt = new Date(Date.now() + 400).toISOString();
    const { key, id } = await keys().mint(minting({ expiresAt }));
    expect(await authenticate(key)).toMatchObject({ keyId: id });
    await eventually(() => expect(authenticate(key)).rejects.toMatchObject(refused));
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expiresAt) - 50);
  });

  it('finds a key by index, among any number of keys', async () => {
    await running.database.query(
      `INSERT INTO accounts_vault.key_secrets (key_id, account_id, key_hash, scopes)
       SELECT 'bulk_' || n, 'acc_bulk', sha256(n::text::bytea), '{read}' FROM generate_series(1, 20000) n`,
    );
    await running.database.query('ANALYZE accounts_vault.key_secrets');
    const plan = await running.database.query<Record<string, string>>(
      `EXPLAIN SELECT * FROM accounts_vault.key_secrets s LEFT JOIN key_list l ON l.id = s.key_id
       WHERE s.key_hash = sha256('7'::bytea)`,
    );
    const text = plan.map((row) => row['QUERY PLAN']).join('\n');
    expect(text).toContain('key_secrets_key_hash_key');
    expect(text).not.toContain('Seq Scan on key_secrets');
  });

  it('records when a key was last used, at most once a minute', async () => {
    const { key, id } = await keys().mint(minting());
    await Promise.all(Array.from({ length: 20 }, () => authenticate(key)));
    await running.usage.settle();
    const first = await running.usage.lastUsedAt(id);
    expect(Date.now() - Date.parse(first ?? '')).toBeLessThan(10_000);
    await authenticate(key);
    await running.usage.settle();
    expect(await running.usage.lastUsedAt(id)).toBe(first);
    const listed = (await list()).items.find((item) => item.id === id);
    expect(listed?.lastUsedAt).toBe(first);
  });
});

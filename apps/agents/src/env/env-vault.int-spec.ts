import { randomBytes } from 'node:crypto';
import { AGENT_LIMITS, type EnvVarView } from '@berth/contracts/agents';
import { VARIABLE_VALUE_CHARS } from '@berth/contracts/schema';
import { newId } from '@berth/kernel';
import { lockKey, openDatabase, parseKeyring, SecretBox, type Database } from '@berth/persistence';
import { createLogger } from '@berth/telemetry';
import { eventually, startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAgentsTables } from '../migrations/2026-11-21-agents.js';
import { migrations } from '../migrations/migrations.js';
import { CreationOvertaken } from '../agent/creation-overtaken.js';
import { EnvVault } from './env-vault.js';

const log = createLogger({ service: 'test', level: 'silent' });
const box = new SecretBox(parseKeyring(`k1:${randomBytes(32).toString('base64')}`));
const VALUE_BYTES = VARIABLE_VALUE_CHARS;

describe('the vault of variables', () => {
  let infra: TestInfra;
  /** One per simulated process of the service. */
  let databases: readonly Database[];
  let vaults: readonly EnvVault[];

  const open = (schema: string, steps = migrations): Promise<Database> =>
    openDatabase({
      url: infra.databaseUrl,
      schema,
      migrations: steps,
      applicationName: 'env-vault-test',
      log,
    });

  beforeAll(async () => {
    infra = await startTestInfra({ parts: ['postgres'] });
    databases = [await open('agents'), await open('agents'), await open('agents')];
    vaults = databases.map((database) => new EnvVault(database, box));
  });

  afterAll(async () => {
    await Promise.all(databases.map((database) => database.close()));
    await infra.stop();
  });

  const vault = (n = 0): EnvVault => {
    const found = vaults[n % vaults.length];
    if (found === undefined) throw new Error('There is no vault.');
    return found;
  };

  const beginAttempt = (agentId: string, attempt: number): Promise<unknown> =>
    databases[0]?.query(
      `INSERT INTO agent_creations (agent_id, account_id, attempt, host, mem_mb, placed_at)
       VALUES ($1, 'acc_1', $2, 'host1', 256, now())`,
      [agentId, attempt],
    ) ?? Promise.reject(new Error('There is no database.'));

  const put = (agentId: string, key: string, value: string, n = 0): Promise<EnvVarView> =>
    vault(n).put(agentId, newId('cmd'), { key, value, isSecret: null });

  const all = async (agentId: string): Promise<readonly EnvVarView[]> => {
    const items: EnvVarView[] = [];
    let after: string | null = null;
    do {
      const page: Awaited<ReturnType<EnvVault['list']>> = await vault().list(agentId, after);
      expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThan(8 * 1024 * 1024 - 4_096);
      items.push(...page.items);
      after = page.next;
    } while (after !== null);
    return items;
  };

  it('limits an agent to 256 variables, even when several processes set them concurrently', async () => {
    const agentId = newId('agt');
    const names = Array.from({ length: 270 }, (_, n) => `NAME_${String(n)}`);
    const outcomes = await Promise.allSettled(names.map((name, n) => put(agentId, name, 'x', n)));
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused).toHaveLength(270 - AGENT_LIMITS.variables);
    expect(refused[0]?.reason).toMatchObject({
      kind: 'invalid',
      code: 'invalid_request',
      context: { fields: [{ path: 'key' }] },
    });
    const kept = await all(agentId);
    expect(kept).toHaveLength(AGENT_LIMITS.variables);
    const { key } = kept[0] ?? { key: '' };
    expect((await put(agentId, key, 'renewed')).value).toBe('renewed');
    await vault().remove(agentId, newId('cmd'), key);
    expect((await put(agentId, 'IN_ITS_PLACE', 'x')).value).toBe('x');
  });

  it('waits for another process that is about to set the last variables', async () => {
    const agentId = newId('agt');
    const [, other] = databases;
    const written = await other?.transaction(async (tx) => {
      await tx.query('SELECT pg_advisory_xact_lock($1)', [lockKey(`env_vault/${agentId}`)]);
      await tx.query(
        `INSERT INTO env_vault (agent_id, key, sealed, bytes, is_secret, updated_at)
         SELECT $1, 'NAME_' || n, '', 1, false, now() FROM generate_series(1, $2::integer) AS n`,
        [agentId, AGENT_LIMITS.variables],
      );
      const waiting = put(agentId, 'ONE_MORE', 'x');
      waiting.catch(() => undefined);
      await eventually(async () => {
        const locks = await other.query(
          `SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database
           WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted`,
        );
        expect(locks).toHaveLength(1);
      });
      return { waiting };
    });
    await expect(written?.waiting).rejects.toMatchObject({ kind: 'invalid', code: 'invalid_request' });
  });

  it('limits names and values of an agent to 1 MiB, even when several processes set them concurrently', async () => {
    const agentId = newId('agt');
    const names = Array.from({ length: 40 }, (_, n) => `N${String(n).padStart(3, '0')}`);
    const outcomes = await Promise.allSettled(
      names.map((name, n) => put(agentId, name, '\u0001'.repeat(VALUE_BYTES - name.length), n)),
    );
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused).toHaveLength(40 - AGENT_LIMITS.variablesBytes / VALUE_BYTES);
    expect(refused[0]?.reason).toMatchObject({
      code: 'invalid_request',
      context: { fields: [{ path: 'value' }] },
    });
    await expect(put(agentId, 'A', '')).rejects.toMatchObject({ code: 'invalid_request' });
    const kept = await all(agentId);
    expect(kept.reduce((sum, { key, value }) => sum + key.length + value.length, 0)).toBe(1_048_576);
  });

  it('counts bytes of UTF-8, not characters', async () => {
    const agentId = newId('agt');
    const threeBytes = '€'.repeat(VALUE_BYTES);
    for (let n = 0; n < 10; n++) await put(agentId, `N${String(n)}`, threeBytes);
    await expect(put(agentId, 'ONE_MORE', threeBytes)).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('sets all variables of a new agent or none', async () => {
    const agentId = newId('agt');
    const tooMany = Array.from({ length: 257 }, (_, n) => ({
      key: `N${String(n)}`,
      value: '',
      isSecret: null,
    }));
    await beginAttempt(agentId, 0);
    await expect(vault().putCreated(agentId, 0, tooMany)).rejects.toMatchObject({ code: 'invalid_request' });
    expect(await all(agentId)).toEqual([]);
    await vault().putCreated(agentId, 0, tooMany.slice(1));
    expect(await all(agentId)).toHaveLength(256);
  });

  it('accepts variables of an attempt only while it is in progress, and removes those of attempts that were undone', async () => {
    const agentId = newId('agt');
    const variables = [{ key: 'A', value: 'first', isSecret: false }];
    await expect(vault().putCreated(agentId, 0, variables)).rejects.toBeInstanceOf(CreationOvertaken);
    await beginAttempt(agentId, 0);
    await vault().putCreated(agentId, 0, variables);
    await vault().forgetCreated(agentId, 0);
    expect(await all(agentId)).toEqual([]);
    await beginAttempt(agentId, 1);
    await expect(vault().putCreated(agentId, 0, variables)).rejects.toBeInstanceOf(CreationOvertaken);
    await vault().putCreated(agentId, 1, variables);
    await vault().forgetCreated(agentId, 0);
    expect(await all(agentId)).toHaveLength(1);
  });

  it('keeps a variable that was changed since the agent was created', async () => {
    const agentId = newId('agt');
    await beginAttempt(agentId, 0);
    const variables = [{ key: 'A', value: 'first', isSecret: false }];
    await vault().putCreated(agentId, 0, variables);
    await put(agentId, 'A', 'changed');
    await vault().putCreated(agentId, 0, variables);
    await vault().forgetCreated(agentId, 0);
    expect(await all(agentId)).toMatchObject([{ value: 'changed' }]);
  });

  it('returns variables that an earlier version stored beyond the limits, which may shrink but not grow', async () => {
    const agentId = newId('agt');
    const earlier = await open('earlier', [createAgentsTables]);
    const value = '\u0001'.repeat(VALUE_BYTES);
    for (let n = 0; n < 300; n++) {
      const key = `N${String(n)}`;
      await earlier.query(
        'INSERT INTO env_vault (agent_id, key, sealed, is_secret, updated_at) VALUES ($1, $2, $3, false, now())',
        [agentId, key, box.seal(value, `${agentId}/${key}`)],
      );
    }
    await earlier.close();
    const database = await open('earlier');
    vaults = [new EnvVault(database, box)];
    databases = [...databases, database];
    const kept = await all(agentId);
    expect(kept).toHaveLength(300);
    expect(kept.every((item) => item.value === value)).toBe(true);
    await put(agentId, 'N7', 'smaller');
    await put(agentId, 'N7', 'small');
    await expect(put(agentId, 'N7', 'larger again')).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(put(agentId, 'ANOTHER', '')).rejects.toMatchObject({ code: 'invalid_request' });
  });
});

import { newId } from '@berth/kernel';
import { openDatabase, type Database } from '@berth/persistence';
import { createLogger } from '@berth/telemetry';
import { startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createExecTables } from '../migrations/2026-11-21-exec.js';
import { OutputVault, type Result } from './output-vault.js';

const log = createLogger({ service: 'test', level: 'silent' });

const aResult = (members: Partial<Result> = {}): Result => ({
  executionId: newId('exe'),
  accountId: 'acc_1',
  agentId: 'agt_1',
  status: 'completed',
  exitCode: 0,
  stdout: 'out',
  stderr: 'err',
  startedAt: '2026-11-21T10:00:00.000Z',
  endedAt: '2026-11-21T10:00:01.000Z',
  ...members,
});

describe('the vault of results', () => {
  let infra: TestInfra;
  let database: Database;
  let vault: OutputVault;

  beforeAll(async () => {
    infra = await startTestInfra({ parts: ['postgres'] });
    database = await openDatabase({
      url: infra.databaseUrl,
      schema: 'exec',
      migrations: [createExecTables],
      applicationName: 'output-vault-test',
      log,
    });
    vault = new OutputVault(database);
  });

  afterAll(async () => {
    await database.close();
    await infra.stop();
  });

  it('returns output exactly as stored, including the longest and any control character', async () => {
    const longest = `[output truncated]\n${'\u{1f600}'.repeat(262_144)}`;
    for (const result of [
      aResult({ stdout: longest, stderr: longest }),
      aResult({ stdout: '\u0000\\x00\u0001\ufffd', stderr: '', exitCode: 4_294_967_295 }),
      aResult({ status: 'failed', exitCode: -1, startedAt: null }),
    ]) {
      expect(await vault.keep(result, null)).toEqual(result);
      expect(await vault.find(result.executionId)).toEqual(result);
    }
  });

  it('keeps the first result and returns it to later writers', async () => {
    const first = aResult();
    const others = Array.from({ length: 5 }, (_, n) => ({
      ...first,
      status: 'failed' as const,
      exitCode: n,
    }));
    await vault.keep(first, 5n);
    for (const stored of await Promise.all(others.map((other) => vault.keep(other, 6n))))
      expect(stored).toEqual(first);
    expect(await vault.find(first.executionId)).toEqual(first);
  });

  it('does not wait for the disk, and only in its own statement', async () => {
    const settings = await database.transaction(async (tx) => {
      await new OutputVault(tx).keep(aResult(), null);
      return tx.query<{ synchronous_commit: string }>('SHOW synchronous_commit');
    });
    expect(settings).toEqual([{ synchronous_commit: 'off' }]);
    expect(await database.query('SHOW synchronous_commit')).toEqual([{ synchronous_commit: 'on' }]);
  });

  it('stores results for 24 hours and removes older ones in bounded batches', async () => {
    const fresh = aResult();
    await vault.keep(fresh, null);
    const old = Array.from({ length: 5 }, () => aResult());
    for (const result of old) await vault.keep(result, null);
    await database.query(
      `UPDATE output_vault SET expires_at = expires_at - interval '24 hours' WHERE execution_id = ANY($1)`,
      [old.map(({ executionId }) => executionId)],
    );
    expect(await vault.find(old[0]?.executionId ?? '')).toBeNull();
    expect([await vault.sweep(3), await vault.sweep(3), await vault.sweep(3)]).toEqual([3, 2, 0]);
    expect(await vault.find(fresh.executionId)).toEqual(fresh);
  });
});

import { eventually } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import type { Api } from './api.fixture.js';
import { tablesWith } from './canary-search.fixture.js';
import { Files } from './files.fixture.js';
import {
  api,
  audited,
  CANARY,
  createPerson,
  database,
  expectForgotten,
  folder,
  livingKeys,
  LONG_TIMEOUT,
  ok,
  PERSON,
  rebuild,
  stack,
  type StartStack,
  useStack,
  VAULTS,
} from './forgotten-data.fixture.js';
import { runningPart, signalAll, treeOf } from './processes.fixture.js';
import { startStandaloneStack } from './stack.fixture.js';

const inOneProcess: StartStack = async (path, env) => {
  const started = await startStandaloneStack(path, env);
  return [started, () => started.program.printed];
};

describe('with every service in one process', () => {
  useStack(inOneProcess);

  it('no log, message or trace has personal data in plaintext, and nothing has it once its end user is deleted, even if a backup of its keys is restored', async () => {
    const { agentId, keys } = await expectForgotten();
    // Restores the keys, as a backup from before the deletion does.
    for (const [vault, rows] of keys)
      for (const { end_user_id, sealed_key } of rows)
        await database.query(
          `UPDATE ${vault} SET sealed_key = $2, destroyed_at = NULL WHERE end_user_id = $1`,
          [end_user_id, sealed_key],
        );
    expect(await audited(agentId)).not.toContain(CANARY);
    for (const projection of ['end-user-list', 'agent-list', 'audit-list']) await rebuild(projection);
    expect((await api.get(PERSON)).status).toBe(404);
    expect((await api.get(`/api/agents/${agentId}`)).status).toBe(404);
    await eventually(async () => expect(await livingKeys()).toBe(0), LONG_TIMEOUT);
    for (const projection of ['end-user-list', 'agent-list', 'audit-list']) await rebuild(projection);
    expect(await tablesWith(database, CANARY)).toEqual([]);
  });

  it('a deletion that the database interrupts is finished later, and a new end user with the same external id starts empty', async () => {
    const agentId = await createPerson();
    await database.transaction(
      async (tx) => {
        // The lock interrupts the deletion after it is in the log and before it destroys the keys.
        await tx.query(`LOCK TABLE ${VAULTS.join(', ')} IN SHARE MODE`);
        const deletion = api.call('DELETE', PERSON);
        await eventually(async () => {
          const waiting = await database.query(
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE wait_event_type = 'Lock' AND query LIKE '%personal_key%'`,
          );
          expect(waiting).not.toEqual([]);
        }, LONG_TIMEOUT);
        expect((await deletion).status).toBe(503);
        expect((await api.get(PERSON)).status).toBe(404);
      },
      { statementTimeoutMs: 30_000 },
    );
    await eventually(async () => {
      expect(await livingKeys()).toBe(0);
      expect((await api.get(`/api/agents/${agentId}`)).status).toBe(404);
    }, LONG_TIMEOUT);
    const again = await api.call('PUT', PERSON, { body: {} });
    expect([again.status, again.body]).toMatchObject([201, { displayName: null, tags: [], agentCount: 0 }]);
    await ok(api.call('DELETE', PERSON));
  });

  it('a deletion that the log interrupts is finished later, and a rebuild restores nothing of the end user', async () => {
    const agentId = await createPerson();
    await ok(new Files(() => stack, agentId).write(`${CANARY}.txt`, CANARY));
    const log = treeOf(runningPart(folder.path, 'event-store'));
    let deletion: ReturnType<Api['call']> | undefined;
    await database.transaction(
      async (tx) => {
        // The deletion is in the log, and waits here before it reaches the agents.
        await tx.query('LOCK TABLE end_users_vault.token_secrets IN EXCLUSIVE MODE');
        deletion = api.call('DELETE', PERSON);
        await eventually(async () => {
          const waiting = await database.query(
            `SELECT 1 FROM pg_locks WHERE relation = 'end_users_vault.token_secrets'::regclass AND NOT granted`,
          );
          expect(waiting).not.toEqual([]);
        }, LONG_TIMEOUT);
        signalAll(log, 'SIGSTOP');
      },
      { statementTimeoutMs: 30_000 },
    );
    try {
      expect((await deletion)?.status).toBe(503);
      expect(await livingKeys()).toBeGreaterThan(0);
    } finally {
      signalAll(log, 'SIGCONT');
    }
    const expectGone = async (): Promise<void> => {
      expect((await api.get(PERSON)).status).toBe(404);
      expect((await api.get(`/api/agents/${agentId}`)).status).toBe(404);
    };
    await eventually(async () => {
      expect(await livingKeys()).toBe(0);
      await expectGone();
      expect(await tablesWith(database, CANARY)).toEqual([]);
    }, LONG_TIMEOUT);
    for (const projection of ['end-user-list', 'agent-list', 'audit-list']) await rebuild(projection);
    await expectGone();
    expect(await tablesWith(database, CANARY)).toEqual([]);
    const again = await api.call('PUT', PERSON, { body: {} });
    expect([again.status, again.body]).toMatchObject([201, { displayName: null, agentCount: 0 }]);
  });
});

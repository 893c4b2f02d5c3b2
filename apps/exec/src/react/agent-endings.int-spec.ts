import { openDatabase, type Database } from '@berth/persistence';
import { createLogger } from '@berth/telemetry';
import { startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createExecTables } from '../migrations/2026-11-21-exec.js';
import { AgentEndings } from './agent-endings.js';

let infra: TestInfra;
let database: Database;

beforeAll(async () => {
  infra = await startTestInfra({ parts: ['postgres'] });
  database = await openDatabase({
    url: infra.databaseUrl,
    schema: 'exec',
    migrations: [createExecTables],
    applicationName: 'endings-test',
    log: createLogger({ service: 'test', level: 'silent' }),
  });
});
afterAll(async () => {
  await database.close();
  await infra.stop();
});

it('an ending that a restored log does not contain never hides a later one', async () => {
  const endings = new AgentEndings(database);
  const at = '2026-11-22T08:00:00.000Z';
  await endings.remember(database, { agentId: 'agt_1', epoch: 3, position: 300n, at });
  await endings.remember(database, { agentId: 'agt_1', epoch: 7, position: 700n, at });
  await endings.remember(database, { agentId: 'agt_2', epoch: 2, position: 200n, at });
  await endings.forgetAfter(database, 400n);
  await endings.remember(database, { agentId: 'agt_1', epoch: 5, position: 500n, at });
  const rows = await database.query('SELECT agent_id, epoch::int FROM agent_ending ORDER BY agent_id');
  expect(rows).toEqual([
    { agent_id: 'agt_1', epoch: 5 },
    { agent_id: 'agt_2', epoch: 2 },
  ]);
  await endings.forgetAfter(database, null);
  expect(await database.query('SELECT 1 FROM agent_ending')).toEqual([]);
});

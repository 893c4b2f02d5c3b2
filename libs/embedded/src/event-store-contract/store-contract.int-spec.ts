import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { type EventStoreServer, startEventStoreServer } from '../event-store/server.js';
import { describeStoreContract } from './describe-store-contract.js';

/* Runs the same tests against another store, such as a real EventStoreDB; see the README in this folder. */
const OTHER_STORE = process.env['BERTH_CONTRACT_EVENTSTORE_URL'];

let server: EventStoreServer | undefined;
const folder = mkdtempSync(join(tmpdir(), 'berth-contract-'));

beforeAll(async () => {
  if (OTHER_STORE === undefined)
    server = await startEventStoreServer({ file: join(folder, 'events.db'), port: 0 });
});

afterAll(async () => {
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

describeStoreContract(() => OTHER_STORE ?? `esdb://127.0.0.1:${server?.port}?tls=false`);

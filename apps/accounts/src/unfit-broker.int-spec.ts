import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { NatsServer, startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';

let infra: TestInfra;
let dataDir: string;

beforeAll(async () => {
  infra = await startTestInfra({ parts: ['eventStore', 'postgres'] });
  dataDir = await mkdtemp(join(tmpdir(), 'berth-unfit-'));
});
afterAll(async () => {
  await infra.stop();
  await rm(dataDir, { recursive: true, force: true });
});

/** Runs the service as a process of its own and returns how it ended. */
const run = async (natsUrl: string): Promise<{ readonly code: unknown; readonly stderr: string }> => {
  const service = spawn(process.execPath, [join(import.meta.dirname, '../dist/main.js')], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      NATS_URL: natsUrl,
      EVENTSTORE_URL: infra.eventStoreUrl,
      DATABASE_URL: infra.databaseUrl,
      BERTH_DATA: dataDir,
      BERTH_LOG_LEVEL: 'silent',
    },
  });
  onTestFinished(() => void service.kill('SIGKILL'));
  const [stderr, [code]] = await Promise.all([text(service.stderr), once(service, 'exit')]);
  return { code, stderr };
};

describe('a service whose broker cannot serve', () => {
  it.each([
    ['without JetStream', 'max_payload: 8388608', 'NATS_URL names servers or an account without JetStream'],
    [
      'that takes small messages only',
      'jetstream { store_dir: $STORE }',
      'NATS_URL names a server that takes messages of at most 1048576 bytes',
    ],
    [
      'that refuses the streams',
      'max_payload: 8388608\njetstream { store_dir: $STORE }\nauthorization { users: [{ user: a, password: a, permissions { publish { deny: "$JS.API.STREAM.CREATE.>" } } }] }',
      'NATS_URL names an account that refuses the stream berth_EVT_ACCOUNTS',
    ],
    [
      'whose account has no room for all streams',
      'max_payload: 8388608\njetstream { store_dir: $STORE }\naccounts { A { users: [{ user: a, password: a }], jetstream { max_streams: 1, max_file: 1G } } }',
      'NATS_URL names an account that refuses the stream berth_PRESENCE: maximum number of streams reached',
    ],
  ])('%s ends with 78 and one line that says what to change', async (_what, config, line) => {
    const nats = await NatsServer.configured(config);
    onTestFinished(() => nats.stop());
    const { code, stderr } = await run(nats.url.replace('//', '//a:a@'));
    expect(code).toBe(78);
    expect(stderr.trim().split('\n')).toEqual([
      expect.stringContaining(`accounts: Bad configuration: ${line}`) as string,
    ]);
  });
});

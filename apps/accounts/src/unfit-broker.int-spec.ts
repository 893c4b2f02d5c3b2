import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import {
  eventually,
  freePort,
  NatsServer,
  programArguments,
  startTestInfra,
  type TestInfra,
} from '@berth/testing';
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

const environment = (natsUrl: string): NodeJS.ProcessEnv => ({
  NATS_URL: natsUrl,
  EVENTSTORE_URL: infra.eventStoreUrl,
  DATABASE_URL: infra.databaseUrl,
  BERTH_DATA: dataDir,
});

/** Runs the service as a separate process and returns how it ended. */
const run = async (
  natsUrl: string,
  more: NodeJS.ProcessEnv = {},
): Promise<{ readonly code: unknown; readonly stderr: string }> => {
  const service = spawn(process.execPath, [...programArguments('accounts')], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...environment(natsUrl), ...more, BERTH_LOG_LEVEL: 'silent' },
  });
  onTestFinished(() => void service.kill('SIGKILL'));
  const [stderr, [code]] = await Promise.all([text(service.stderr), once(service, 'exit')]);
  return { code, stderr };
};

/** The configuration of server `index` in a cluster of three. */
const inCluster = (ports: readonly number[], index: number): string => {
  const routes = ports.filter((_, other) => other !== index).map((port) => `nats://127.0.0.1:${port}`);
  return [
    'max_payload: 8388608',
    `server_name: n${index}`,
    'jetstream { store_dir: $STORE }',
    `cluster { name: three, listen: "127.0.0.1:${ports[index]}", no_advertise: true, routes: [${routes.join(', ')}] }`,
  ].join('\n');
};

describe('a service whose broker has no leader yet', () => {
  it('waits for the rest of the cluster and then starts', async () => {
    const ports = await Promise.all([freePort(), freePort(), freePort()]);
    const first = await NatsServer.configured(inCluster(ports, 0));
    onTestFinished(() => first.stop());
    const service = spawn(process.execPath, [...programArguments('accounts')], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...environment(first.url), BERTH_LOG_LEVEL: 'info' },
    });
    onTestFinished(() => void service.kill('SIGKILL'));
    let logged = '';
    for (const output of [service.stdout, service.stderr])
      output.on('data', (chunk) => (logged += String(chunk)));
    await eventually(() => expect(logged).toContain('Waiting for the message broker'), { timeoutMs: 20_000 });
    for (const index of [1, 2]) {
      const server = await NatsServer.configured(inCluster(ports, index));
      onTestFinished(() => server.stop());
    }
    await eventually(() => expect(logged).toContain('"started"'), { timeoutMs: 40_000 });
    expect(service.exitCode).toBeNull();
  });
});

describe('a service whose cluster has too few servers for NATS_REPLICAS', () => {
  it('starts, logs the shortage, and has the replicas once the servers are up', async () => {
    const ports = await Promise.all([freePort(), freePort(), freePort()]);
    const monitor = await freePort();
    const first = await NatsServer.configured(`${inCluster(ports, 0)}\nhttp: "127.0.0.1:${monitor}"`);
    onTestFinished(() => first.stop());
    const second = await NatsServer.configured(inCluster(ports, 1));
    onTestFinished(() => second.stop());
    const service = spawn(process.execPath, [...programArguments('accounts')], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...environment(`${first.url},127.0.0.1:${second.port}`),
        NATS_REPLICAS: '3',
        BERTH_LOG_LEVEL: 'info',
      },
    });
    onTestFinished(() => void service.kill('SIGKILL'));
    let logged = '';
    for (const output of [service.stdout, service.stderr])
      output.on('data', (chunk) => (logged += String(chunk)));
    await eventually(() => expect(logged).toContain('"started"'), { timeoutMs: 40_000 });
    expect(logged).toMatch(
      /too few can hold the stream berth_EVT_ACCOUNTS: it has 1 replicas, NATS_REPLICAS wants 3/,
    );
    const third = await NatsServer.configured(inCluster(ports, 2));
    onTestFinished(() => third.stop());
    await eventually(() => expect(logged).toContain('The broker can serve again.'), { timeoutMs: 60_000 });
    const state = await fetch(`http://127.0.0.1:${monitor}/jsz?streams=1&config=1`).then((got) => got.text());
    expect(state).toMatch(/"num_replicas": 3/);
    expect(service.exitCode).toBeNull();
  }, 120_000);
});

describe('a service whose broker cannot serve', () => {
  it('exits with 78 and one line that names the problem if a single server must hold three replicas', async () => {
    const nats = await NatsServer.configured('max_payload: 8388608\njetstream { store_dir: $STORE }');
    onTestFinished(() => nats.stop());
    const { code, stderr } = await run(nats.url, { NATS_REPLICAS: '3' });
    expect(code).toBe(78);
    expect(stderr.trim().split('\n')).toEqual([
      expect.stringContaining('it has 1 replicas, NATS_REPLICAS wants 3') as string,
    ]);
  });

  it.each([
    ['has no JetStream', 'max_payload: 8388608', 'NATS_URL names servers or an account without JetStream'],
    [
      'takes small messages only',
      'jetstream { store_dir: $STORE }',
      'NATS_URL names a server that takes messages of at most 1048576 bytes',
    ],
    [
      'refuses the streams',
      'max_payload: 8388608\njetstream { store_dir: $STORE }\nauthorization { users: [{ user: a, password: a, permissions { publish { deny: "$JS.API.STREAM.CREATE.>" } } }] }',
      'NATS_URL names an account that refuses the stream berth_EVT_ACCOUNTS',
    ],
    [
      'has no room for all streams in its account',
      'max_payload: 8388608\njetstream { store_dir: $STORE }\naccounts { A { users: [{ user: a, password: a }], jetstream { max_streams: 1, max_file: 1G } } }',
      'NATS_URL names an account that refuses the stream berth_PRESENCE: maximum number of streams reached',
    ],
  ])('exits with 78 and one line that names the problem if the broker %s', async (_what, config, line) => {
    const nats = await NatsServer.configured(config);
    onTestFinished(() => nats.stop());
    const { code, stderr } = await run(nats.url.replace('//', '//a:a@'));
    expect(code).toBe(78);
    expect(stderr.trim().split('\n')).toEqual([
      expect.stringContaining(`accounts: Bad configuration: ${line}`) as string,
    ]);
  });
});

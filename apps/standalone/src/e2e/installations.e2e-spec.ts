import { randomBytes, randomUUID } from 'node:crypto';
import { NatsLink } from '@berth/messaging';
import { createLogger } from '@berth/telemetry';
import { eventually, freePort, startTestInfra, type TestInfra } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { processesOf } from './processes.fixture.js';
import { Program, startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';

let infra: TestInfra;
let stack: StandaloneStack | undefined;
let folders: ReturnType<typeof temporaryFolder>[];

beforeEach(async () => {
  infra = await startTestInfra({ parts: ['nats', 'postgres'] });
  folders = [temporaryFolder(), temporaryFolder()];
});

afterEach(async () => {
  await stack?.stop();
  await infra.stop();
  for (const folder of folders) folder.remove();
});

/** Publishes what another installation publishes after it has not seen this one for 30 s. */
const takeName = async (instance: string): Promise<void> => {
  const log = createLogger({ service: 'test', level: 'silent' });
  const link = await NatsLink.open({ url: infra.natsUrl, name: 'other', instance, log });
  link.connection.publish(link.names.subject('presence.owner'), randomUUID());
  await link.close();
};

it('an installation does not start under a name that another one uses on its broker, and starts once that one has stopped', async () => {
  const env = { NATS_URL: infra.natsUrl };
  const [ours, theirs] = folders.map(({ path }) => path) as [string, string];
  stack = await startStandaloneStack(ours, env);
  const refused = Program.start('standalone', { ...env, PORT: '0', BERTH_DATA: theirs });
  expect(await refused.exited, refused.printed).toBe(78);
  // A slow machine may report before that it waits for PostgreSQL.
  const said = refused.printed.split('\n').filter((line) => line !== '' && !line.includes('"Waiting for '));
  expect(said).toEqual([
    expect.stringMatching(
      /^Berth cannot start: Bad configuration: BERTH_INSTANCE .*berth is used on this broker/,
    ),
  ]);
  await stack.stop();
  const running = await startStandaloneStack(theirs, env);
  stack = running;
  // It takes over the streams of the other log and empties them; its own events are in them then.
  await running.program.untilPrinted(/The stream holds events that the log does not have/);
  const api = new Api(() => running);
  await api.runningAgent();
  const healthy = { status: 'ok', deadLetters: 0 };
  await eventually(async () => expect((await api.get('/health')).body).toMatchObject(healthy), {
    timeoutMs: 30_000,
  });
});

it('an installation ends, with its gateway and its runtime, when another one takes its name', async () => {
  const [ours = ''] = folders.map(({ path }) => path);
  stack = await startStandaloneStack(ours, { NATS_URL: infra.natsUrl });
  const { program } = stack;
  await takeName('berth');
  expect(await program.exited, program.printed).toBe(78);
  expect(program.printed).toContain('The name berth is used on this broker by another installation.');
  expect(processesOf(ours)).toEqual([]);
});

it('two installations with different names can share a broker', async () => {
  const [ours, theirs] = folders.map(({ path }) => path) as [string, string];
  stack = await startStandaloneStack(ours, { NATS_URL: infra.natsUrl, BERTH_INSTANCE: 'ours' });
  const other = await startStandaloneStack(theirs, { NATS_URL: infra.natsUrl, BERTH_INSTANCE: 'theirs' });
  try {
    const [url = ''] = other.urls;
    const mine = await fetch(`${url}/api/agents`, { headers: { authorization: `Bearer ${other.key}` } });
    expect(mine.status).toBe(200);
    // Each installation has its own keys.
    const foreign = await fetch(`${url}/api/agents`, { headers: { authorization: `Bearer ${stack.key}` } });
    expect(foreign.status).toBe(401);
  } finally {
    await other.stop();
  }
});

describe('a gateway in its own process', () => {
  const sealingKey = `k1:${randomBytes(32).toString('base64')}`;
  let gateway: Program | undefined;

  afterEach(async () => {
    await gateway?.end('SIGKILL');
  });

  const startGateway = async (
    instance: string,
  ): Promise<{ readonly program: Program; readonly url: string }> => {
    const port = await freePort();
    gateway = Program.start('gateway', {
      NATS_URL: infra.natsUrl,
      EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false',
      DATABASE_URL: infra.databaseUrl,
      BERTH_INSTANCE: instance,
      BERTH_SECRET_KEY: sealingKey,
      PORT: String(port),
    });
    return { program: gateway, url: `http://127.0.0.1:${port}` };
  };

  /** Creates an agent under an Idempotency-Key; returns whether the response was a stored one. */
  const create = async (url: string, key: string): Promise<boolean> => {
    const response = await eventually(
      () =>
        fetch(`${url}/api/agents`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${key}`,
            'content-type': 'application/json',
            'idempotency-key': 'once',
          },
          body: JSON.stringify({ name: 'ada', templateId: 'echo' }),
        }),
      { timeoutMs: 30_000 },
    );
    expect(response.status).toBe(201);
    return response.headers.get('idempotent-replayed') === 'true';
  };

  it('does not start under the name of another installation, and ends when another one takes its name', async () => {
    const [ours, theirs] = folders.map(({ path }) => path) as [string, string];
    stack = await startStandaloneStack(ours, { NATS_URL: infra.natsUrl, BERTH_INSTANCE: 'ours' });
    const other = await startStandaloneStack(theirs, { NATS_URL: infra.natsUrl, BERTH_INSTANCE: 'theirs' });
    try {
      const first = await startGateway('ours');
      expect(await create(first.url, stack.key)).toBe(false);
      await first.program.end('SIGTERM');

      const { program: strayed } = await startGateway('theirs');
      expect(await strayed.exited, strayed.printed).toBe(78);
      expect(strayed.printed.trim().split('\n')).toEqual([
        expect.stringMatching(/^gateway: Bad configuration: BERTH_INSTANCE .*theirs is used on this broker/),
      ]);

      const second = await startGateway('ours');
      expect(await create(second.url, stack.key)).toBe(true);
      await takeName('ours');
      expect(await second.program.exited, second.program.printed).toBe(78);
      expect(second.program.printed).toContain(
        'The name ours is used on this broker by another installation.',
      );
    } finally {
      await other.stop();
    }
  });
});

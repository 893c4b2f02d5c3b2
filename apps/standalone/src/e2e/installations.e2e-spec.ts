import { randomBytes, randomUUID } from 'node:crypto';
import { NatsLink } from '@berth/messaging';
import { createLogger } from '@berth/telemetry';
import { eventually, freePort, startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { processesOf } from './processes.fixture.js';
import { Program, startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';

let infra: TestInfra;
/** Under the name that is the default, and under another. */
let ours: StandaloneStack;
let theirs: StandaloneStack;
let gateway: Program | undefined;
const folders = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
const [OURS, THEIRS, FRESH] = folders.map(({ path }) => path) as [string, string, string];
const SEALING_KEY = `k1:${randomBytes(32).toString('base64')}`;

beforeAll(async () => {
  infra = await startTestInfra({ parts: ['nats', 'postgres'] });
  ours = await startStandaloneStack(OURS, { NATS_URL: infra.natsUrl });
  theirs = await startStandaloneStack(THEIRS, { NATS_URL: infra.natsUrl, BERTH_INSTANCE: 'theirs' });
});

afterEach(async () => {
  await gateway?.end('SIGKILL');
});

afterAll(async () => {
  for (const stack of [ours, theirs]) await stack.stop();
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

const startGateway = async (
  instance: string,
): Promise<{ readonly program: Program; readonly url: string }> => {
  const port = await freePort();
  gateway = Program.start('gateway', {
    NATS_URL: infra.natsUrl,
    EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false',
    DATABASE_URL: infra.databaseUrl,
    BERTH_INSTANCE: instance,
    BERTH_SECRET_KEY: SEALING_KEY,
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

describe('two installations with different names', () => {
  it('can share a broker', async () => {
    const statusWith = async (key: string): Promise<number> => {
      const headers = { authorization: `Bearer ${key}` };
      return (await fetch(`${theirs.urls[0] ?? ''}/api/agents`, { headers })).status;
    };
    expect(await statusWith(theirs.key)).toBe(200);
    // Each installation has its own keys.
    expect(await statusWith(ours.key)).toBe(401);
  });

  it('do not have each other’s gateways: one that runs alone does not start under a name that others use', async () => {
    const first = await startGateway('berth');
    expect(await create(first.url, ours.key)).toBe(false);
    await first.program.end('SIGTERM');

    const { program: strayed } = await startGateway('theirs');
    expect(await strayed.exited, strayed.printed).toBe(78);
    expect(strayed.printed.trim().split('\n')).toEqual([
      expect.stringMatching(/^gateway: Bad configuration: BERTH_INSTANCE .*theirs is used on this broker/),
    ]);

    const second = await startGateway('berth');
    expect(await create(second.url, ours.key)).toBe(true);
  });
});

describe('an installation', () => {
  it('does not start under a name that another one uses on its broker', async () => {
    const refused = Program.start('standalone', {
      NATS_URL: infra.natsUrl,
      PORT: '0',
      BERTH_DATA: FRESH,
    });
    expect(await refused.exited, refused.printed).toBe(78);
    // A slow machine may report before that it waits for PostgreSQL.
    const said = refused.printed.split('\n').filter((line) => line !== '' && !line.includes('"Waiting for '));
    expect(said).toEqual([
      expect.stringMatching(
        /^Berth cannot start: Bad configuration: BERTH_INSTANCE .*berth is used on this broker/,
      ),
    ]);
  });

  it('starts under the name of another one once that one has stopped', async () => {
    await theirs.stop();
    theirs = await startStandaloneStack(FRESH, { NATS_URL: infra.natsUrl, BERTH_INSTANCE: 'theirs' });
    // It takes over the streams of the other log and empties them; its own events are in them then.
    await theirs.program.untilPrinted(/The stream holds events that the log does not have/);
    const api = new Api(() => theirs);
    await api.runningAgent();
    const healthy = { status: 'ok', deadLetters: 0 };
    await eventually(async () => expect((await api.get('/health')).body).toMatchObject(healthy), {
      timeoutMs: 30_000,
    });
  });

  it('ends, with its gateways and its runtime, when another one takes its name', async () => {
    const { program } = ours;
    const { program: alone, url } = await startGateway('berth');
    await eventually(() => fetch(`${url}/health`), { timeoutMs: 30_000 });
    await takeName('berth');
    for (const ended of [program, alone]) {
      expect(await ended.exited, ended.printed).toBe(78);
      expect(ended.printed).toContain('The name berth is used on this broker by another installation.');
    }
    expect(processesOf(OURS)).toEqual([]);
  });
});

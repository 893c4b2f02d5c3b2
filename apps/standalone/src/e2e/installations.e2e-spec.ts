import { randomUUID } from 'node:crypto';
import { NatsLink } from '@berth/messaging';
import { createLogger } from '@berth/telemetry';
import { eventually, startTestInfra, type TestInfra } from '@berth/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { processesOf } from './processes.fixture.js';
import { Program, startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';

let infra: TestInfra;
let stack: StandaloneStack | undefined;
let folders: ReturnType<typeof temporaryFolder>[];

beforeEach(async () => {
  infra = await startTestInfra({ parts: ['nats'] });
  folders = [temporaryFolder(), temporaryFolder()];
});

afterEach(async () => {
  await stack?.stop();
  await infra.stop();
  for (const folder of folders) folder.remove();
});

it('an installation does not start under a name that another one uses on its broker, and starts once that one has stopped', async () => {
  const env = { NATS_URL: infra.natsUrl };
  const [ours, theirs] = folders.map(({ path }) => path) as [string, string];
  stack = await startStandaloneStack(ours, env);
  const refused = Program.start('standalone', { ...env, PORT: '0', BERTH_DATA: theirs });
  expect(await refused.exited, refused.said).toBe(78);
  expect(refused.said.trim().split('\n')).toEqual([
    expect.stringMatching(
      /^Berth cannot start: Bad configuration: BERTH_INSTANCE .*berth is used on this broker/,
    ),
  ]);
  await stack.stop();
  const running = await startStandaloneStack(theirs, env);
  stack = running;
  // It takes over the streams of the other log and empties them; its own events are in them then.
  await running.program.says(/The stream holds events that the log does not have/);
  const api = new Api(() => running);
  await api.runningAgent();
  const healthy = { status: 'ok', deadLetters: 0 };
  await eventually(async () => expect((await api.get('/health')).body).toMatchObject(healthy), {
    timeoutMs: 30_000,
  });
});

it('an installation whose name another one has taken ends, its gateway and its runtime with it', async () => {
  const [ours = ''] = folders.map(({ path }) => path);
  stack = await startStandaloneStack(ours, { NATS_URL: infra.natsUrl });
  const { program } = stack;
  const log = createLogger({ service: 'test', level: 'silent' });
  const link = await NatsLink.open({ url: infra.natsUrl, name: 'other', log });
  // What another installation writes once this one has been out of sight for 30 s.
  link.connection.publish(link.names.subject('presence.owner'), randomUUID());
  await link.close();
  expect(await program.exited, program.said).toBe(78);
  expect(program.said).toContain('The name berth is used on this broker by another installation.');
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

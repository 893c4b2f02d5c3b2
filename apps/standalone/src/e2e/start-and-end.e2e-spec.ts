import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, provideCluster } from '@berth/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import {
  pidOfPart,
  processesOf,
  processGroupOf,
  runningPart,
  signalAll,
  treeOf,
} from './processes.fixture.js';
import {
  Program,
  readKey,
  READY,
  startStandaloneStack,
  temporaryFolder,
  TEST_TEMPLATES,
  type StandaloneStack,
} from './stack.fixture.js';

/** The contract's bound for SIGTERM. */
const ENDED_WITHIN_MS = 10_000;
const PARTS = ['nats', 'event-store', 'postgres'] as const;
const RUNNING_WITHIN_MS = 30_000;

/** One installation goes through all ends in turn; a test that runs alone starts it itself. */
const folder = temporaryFolder();
let stack: StandaloneStack | undefined;
const installation = (): StandaloneStack => {
  if (stack === undefined) throw new Error('The installation did not start.');
  return stack;
};
const api = new Api(installation);

afterAll(async () => {
  await stack?.program.end('SIGTERM');
  expect(processesOf(folder.path)).toEqual([]);
  folder.remove();
});

const start = async (): Promise<void> => {
  stack = await startStandaloneStack(folder.path, {}, { detached: true });
};

const ensureRunning = async (): Promise<void> => {
  if (stack === undefined || stack.program.hasEnded) await start();
};

const sigterm = (): void => void installation().program.child.kill('SIGTERM');

const stateOf = async (id: string): Promise<unknown> => (await api.get(`/api/agents/${id}`)).body;

/** Ends the whole program by the signal and expects that it ends in time, without a kill, and leaves nothing behind. */
const expectCleanEnd = async (program: Program, dataDir: string, end: () => void): Promise<void> => {
  const begun = Date.now();
  end();
  expect(await program.exited, program.printed).toBe(0);
  expect(Date.now() - begun).toBeLessThan(ENDED_WITHIN_MS);
  expect(processesOf(dataDir)).toEqual([]);
};

const pidOf = ({ child }: Program): number => {
  if (child.pid === undefined) throw new Error('The program did not start.');
  return child.pid;
};

describe('SIGTERM', () => {
  it('ends everything at any point of a first start, and the next start is unaffected', async () => {
    for (const millis of [0, 150, 500, 1_200]) {
      const program = Program.start('standalone', { PORT: '0', BERTH_DATA: folder.path });
      // The test varies how far the start has come.
      await sleep(millis);
      const signalledAt = Date.now();
      await program.end('SIGTERM');
      expect(Date.now() - signalledAt).toBeLessThan(ENDED_WITHIN_MS);
      expect(processesOf(folder.path)).toEqual([]);
    }
    await start();
    expect(await api.chat((await api.runningAgent()).id, 'hello')).toMatchObject({ status: 200 });
  });

  it('ends everything with agents awake, asleep, deploying and in a chat; the next start continues', async () => {
    await ensureRunning();
    const [running, asleep, always, busy] = await Promise.all([
      api.runningAgent(),
      api.runningAgent(),
      api.runningAgent({ idleTtlSeconds: 0 }),
      api.runningAgent({ templateId: 'probe' }),
    ]);
    const before = (await api.chat(running.id, 'remember')).body;
    await api.post(`/api/agents/${asleep.id}/sleep`);
    const chat = api.chat(busy.id, 'slow 60000').then(
      ({ status }) => status,
      () => 'cut off',
    );
    await eventually(async () =>
      expect(
        (await api.post(`/api/agents/${busy.id}/chat`, { message: 'most', conversation_id: 'other' })).body[
          'response'
        ],
      ).toBe('1'),
    );
    const deploying = await api.post<{ id: string }>('/api/agents', { name: 'midway', templateId: 'echo' });
    expect(deploying.status).toBe(201);
    await expectCleanEnd(installation().program, folder.path, sigterm);
    expect([502, 503, 'cut off']).toContain(await chat);

    await start();
    for (const { id } of [running, asleep]) {
      await eventually(
        async () => expect(await stateOf(id)).toMatchObject({ state: 'sleeping', sleepDepth: 'cold' }),
        { timeoutMs: RUNNING_WITHIN_MS },
      );
    }
    await api.inState(always.id, 'running', RUNNING_WITHIN_MS);
    await eventually(
      async () =>
        expect(['running', 'sleeping']).toContain(
          (await api.get(`/api/agents/${deploying.body.id}`)).body['state'],
        ),
      { timeoutMs: RUNNING_WITHIN_MS },
    );
    for (const { id } of [running, asleep, always, deploying.body])
      expect(await api.chat(id, 'again')).toMatchObject({ status: 200 });
    expect((await api.chat(running.id, 'and again')).body.conversation_id).toBe(before.conversation_id);
    await api.call('DELETE', `/api/agents/${always.id}`);
  });

  it('ends everything in time while every part is frozen', async () => {
    await ensureRunning();
    const { id } = await api.runningAgent();
    for (const part of PARTS) signalAll([runningPart(folder.path, part)], 'SIGSTOP');
    const begun = Date.now();
    await installation().program.end('SIGTERM');
    expect(Date.now() - begun).toBeLessThan(ENDED_WITHIN_MS);
    expect(processesOf(folder.path)).toEqual([]);
    await start();
    expect(await api.chat(id, 'back?')).toMatchObject({ status: 200 });
  });
});

describe('Ctrl-C', () => {
  it('signals the program but none of its parts, and ends everything as SIGTERM does', async () => {
    await ensureRunning();
    const { id } = await api.runningAgent();
    const { program } = installation();
    const group = processGroupOf(pidOf(program));
    for (const part of PARTS) expect(processGroupOf(runningPart(folder.path, part))).not.toBe(group);
    await expectCleanEnd(program, folder.path, () => process.kill(-pidOf(program), 'SIGINT'));
    await start();
    expect(await api.chat(id, 'there?')).toMatchObject({ status: 200 });
  });
});

describe('kill -9', () => {
  it('of everything right after a 201 loses nothing: the agent exists and runs after the next start', async () => {
    await ensureRunning();
    const { program } = installation();
    const { body, status } = await api.post<{ id: string }>('/api/agents', {
      name: 'promised',
      templateId: 'echo',
    });
    signalAll([...treeOf(pidOf(program)), ...processesOf(folder.path).map(({ pid }) => pid)], 'SIGKILL');
    expect(status).toBe(201);
    await program.exited;
    await start();
    await api.inState(body.id, 'running', RUNNING_WITHIN_MS);
    expect((await api.chat(body.id, 'hello')).body.response).toContain('hello');
  });

  it('of the program alone leaves no part behind, and the next start continues with its agents', async () => {
    await ensureRunning();
    const [once, always] = await Promise.all([api.runningAgent(), api.runningAgent({ idleTtlSeconds: 0 })]);
    const before = (await api.chat(once.id, 'remember')).body;
    await installation().program.end('SIGKILL');
    await eventually(() => PARTS.every((part) => pidOfPart(folder.path, part) === undefined), {
      timeoutMs: 10_000,
    });
    await start();
    await api.inState(always.id, 'running', RUNNING_WITHIN_MS);
    await eventually(async () =>
      expect(['running', 'sleeping']).toContain((await api.get(`/api/agents/${once.id}`)).body['state']),
    );
    for (const { id } of [once, always]) expect(await api.chat(id, 'again')).toMatchObject({ status: 200 });
    expect((await api.chat(once.id, 'and again')).body.conversation_id).toBe(before.conversation_id);
    await api.call('DELETE', `/api/agents/${always.id}`);
  });
});

describe('a second start', () => {
  const expectRefusal = async (env: Record<string, string>, reason: RegExp): Promise<void> => {
    const begun = Date.now();
    const second = Program.start('standalone', env);
    expect(await second.exited).not.toBe(0);
    expect(Date.now() - begun).toBeLessThan(ENDED_WITHIN_MS);
    expect(second.printed.trim()).toMatch(reason);
    expect(second.printed.trim().split('\n')).toHaveLength(1);
    expect(await api.get('/api/agents')).toMatchObject({ status: 200 });
  };

  it('on a data folder or a port in use reports that in one line, and the first keeps running', async () => {
    await ensureRunning();
    const { id } = await api.runningAgent();
    const port = new URL(installation().urls[0] ?? '').port;
    await expectRefusal({ PORT: '0', BERTH_DATA: folder.path }, /data folder .* is in use/);
    const other = temporaryFolder();
    await expectRefusal({ PORT: port, BERTH_DATA: other.path }, /Port \d+ .* in use/);
    expect(processesOf(other.path)).toEqual([]);
    other.remove();
    expect(await api.chat(id, 'unharmed?')).toMatchObject({ status: 200 });
  });

  it('on another port and data folder runs next to the first; a first start warns only that its agents are not isolated, and of what it awaits for more than a second', async () => {
    await ensureRunning();
    const fresh = temporaryFolder();
    const second = await startStandaloneStack(fresh.path, { BERTH_LOG_LEVEL: 'warn' }, { empty: true });
    const { program } = second;
    try {
      const other = new Api(() => second);
      const [{ id }, { id: otherId }] = await Promise.all([api.runningAgent(), other.runningAgent()]);
      expect((await api.chat(id, 'one')).body.response).toContain('one');
      expect((await other.chat(otherId, 'two')).body.response).toContain('two');
      expect((await other.get(`/api/agents/${id}`)).status).toBe(404);
      expect((await api.get('/api/agents', { key: second.key })).status).toBe(401);
    } finally {
      await expectCleanEnd(program, fresh.path, () => void program.child.kill('SIGTERM'));
      fresh.remove();
    }
    const lines = program.printed.split('\n').filter((line) => line.includes('"msg"'));
    // A slow machine takes longer than that to create a database, and to read the log.
    const unconditional = lines.filter((line) => !/"msg":"(Waiting for|Not ready yet:) /.test(line));
    expect(unconditional).toEqual([expect.stringContaining('Agents run as plain processes of this host')]);
    expect(await api.chat((await api.runningAgent()).id, 'still here')).toMatchObject({ status: 200 });
  });
});

describe('npm start', () => {
  const fresh = temporaryFolder();
  afterAll(() => fresh.remove());

  it('starts on an empty folder without agents, forwards SIGTERM, and nothing is left behind; on a terminal the next start shows that Berth is ready even if the bootstrap key was deleted', async () => {
    await provideCluster(fresh.path);
    const env = { PORT: '0', BERTH_DATA: fresh.path, BERTH_TEMPLATES_DIR: TEST_TEMPLATES };
    const program = Program.npmStart(env);
    const [, url = ''] = await program.untilPrinted(READY);
    const key = readKey(fresh.path);
    const first = new Api(() => ({ urls: [url], key, dataDir: fresh.path, stop: () => Promise.resolve() }));
    expect((await first.get('/api/agents')).body['items']).toEqual([]);
    const signalledAt = Date.now();
    await program.end('SIGTERM');
    await eventually(() => expect(processesOf(fresh.path)).toEqual([]), { timeoutMs: ENDED_WITHIN_MS });
    expect(Date.now() - signalledAt).toBeLessThan(ENDED_WITHIN_MS);

    rmSync(join(fresh.path, 'bootstrap-key'));
    const onTerminal = Program.onTerminal('standalone', env);
    try {
      await onTerminal.untilPrinted(/Berth is ready at/);
    } finally {
      await onTerminal.end('SIGTERM');
    }
    expect(onTerminal.printed).not.toContain('ENOENT');
    await eventually(() => expect(processesOf(fresh.path)).toEqual([]), { timeoutMs: ENDED_WITHIN_MS });
  });
});

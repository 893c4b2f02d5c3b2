import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  runtimeRequests,
  type ExecuteCommand,
  type FoundExecution,
  type Transfer,
} from '@berth/contracts/runtime';
import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RuntimeFixture, received } from './__fixtures__/runtime.fixture.js';
import { agentFolders } from './agent/agent-folders.js';

const IDLE_MS = 1_000;
const HELD = 'echo begun; until [ -e go ]; do sleep 0.02; done; echo done';

describe('commands and transfers of a host', () => {
  let runtime: RuntimeFixture;
  let agentId: string;

  beforeAll(async () => {
    runtime = await RuntimeFixture.open();
  });

  afterAll(() => runtime.close());

  beforeEach(async () => {
    await runtime.begin();
    agentId = await runtime.start({ templateId: 'blank', idleTtlSeconds: IDLE_MS / 1000 });
  });

  afterEach(() => runtime.finish());

  const toCommand = (command: string, wait: boolean): ExecuteCommand => ({
    agentId,
    epoch: 1,
    executionId: newId('exe'),
    command,
    cwd: null,
    env: {},
    timeoutMs: 60_000,
    wait,
  });

  const find = (executionId: string): Promise<FoundExecution> =>
    runtime.requester.request(
      runtimeRequests.findExecution,
      { agentId, executionId, waitMs: 0 },
      { host: runtime.host },
    );

  const execute = (command: ExecuteCommand): Promise<unknown> =>
    runtime.requester.request(runtimeRequests.execute, command, { host: runtime.host });

  const go = (): void => writeFileSync(join(agentFolders(runtime.dataDir, agentId).volume, 'go'), '');

  const pastIdle = async (): Promise<void> => {
    const since = performance.now();
    await eventually(() => performance.now() - since > 1.5 * IDLE_MS);
  };

  const asleep = (): boolean =>
    received.observations.some(({ observation }) => observation.type === 'asleep');

  it('continue when their host is killed, and its successor keeps the agent awake until they are over', async () => {
    const command = toCommand(HELD, false);
    expect(await execute(command)).toMatchObject({ status: 'running' });
    await runtime.end('SIGKILL');
    await runtime.launch();
    await pastIdle();
    expect(asleep()).toBe(false);
    expect(await find(command.executionId)).toMatchObject({ outcome: { status: 'running' } });
    go();
    await eventually(async () =>
      expect(await find(command.executionId)).toMatchObject({
        state: 'known',
        outcome: { status: 'completed', exitCode: 0, stdout: 'begun\ndone\n' },
      }),
    );
    await eventually(asleep);
  });

  it('continue when their caller disconnects', async () => {
    const command = toCommand(HELD, true);
    const late = runtime.requester.request(runtimeRequests.execute, command, {
      host: runtime.host,
      deadlineMs: 300,
    });
    await expect(late).rejects.toMatchObject({ code: 'deadline_exceeded' });
    await pastIdle();
    expect(asleep()).toBe(false);
    go();
    await eventually(async () =>
      expect(await find(command.executionId)).toMatchObject({ outcome: { status: 'completed' } }),
    );
  });

  it('reach the host over the broker, and its data port by the ticket it returns', async () => {
    expect(await execute(toCommand('true', true))).toMatchObject({
      status: 'completed',
      exitCode: 0,
    });
    const cancelled = runtime.requester.request(
      runtimeRequests.cancelExecution,
      { agentId, executionId: newId('exe') },
      { host: runtime.host },
    );
    await expect(cancelled).rejects.toMatchObject({ code: 'execution_unknown' });
    const legacy = { agentId, epoch: 1, command: 'true', cwd: null, env: {}, timeoutMs: 1_000 };
    await expect(
      runtime.requester.request(runtimeRequests.executeLegacy, legacy, { host: runtime.host }),
    ).rejects.toMatchObject({ code: 'guest_command_unavailable' });
    const { url, ticket } = await runtime.requester.request(
      runtimeRequests.openTransfer,
      { agentId, epoch: 1, transfer: { kind: 'output', executionId: newId('exe') } },
      { host: runtime.host },
    );
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1\/transfer$/);
    const response = await fetch(url, { headers: { authorization: `Bearer ${ticket}` } });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ error: { kind: 'not_found', code: 'execution_unknown' } });
  });

  it('return two full streams of the widest characters over the broker', async () => {
    const wide = `node -e "const s='\\u{1F600}'.repeat(300000);process.stdout.write(s);process.stderr.write(s)"`;
    const outcome = (await execute(toCommand(wide, true))) as { stdout: string; stderr: string };
    const kept = `[output truncated]\n${'\u{1F600}'.repeat(262_144)}`;
    expect(outcome.stdout === kept && outcome.stderr === kept).toBe(true);
  });

  it('end with the host, and waiting callers learn that the command failed', async () => {
    const command = toCommand(HELD, true);
    const outcome = execute(command);
    await eventually(async () => expect(await find(command.executionId)).toMatchObject({ state: 'known' }));
    await runtime.end('SIGTERM');
    expect(await outcome).toMatchObject({ status: 'failed', exitCode: -1, stdout: 'begun\n' });
  });

  it('transfer 150 MB both ways without growing the host’s memory', async () => {
    const piece = randomBytes(1024 * 1024);
    const exchange = async (
      transfer: Transfer,
      init: RequestInit & { duplex?: 'half' } = {},
    ): Promise<Response> => {
      const opened = await runtime.requester.request(
        runtimeRequests.openTransfer,
        { agentId, epoch: 1, transfer },
        { host: runtime.host },
      );
      return fetch(opened.url, { ...init, headers: { authorization: `Bearer ${opened.ticket}` } });
    };
    /** Uploads and downloads a file of that many pieces; returns the most memory that the host used in the meantime. */
    const transferBothWays = async (pieces: number): Promise<number> => {
      let most = runtime.memory();
      const [sent, received] = [createHash('sha256'), createHash('sha256')];
      const body = (async function* () {
        for (let index = 0; index < pieces; index++) {
          most = Math.max(most, runtime.memory());
          sent.update(piece);
          yield piece;
        }
      })();
      const stagedId = newId('cmd');
      const size = pieces * piece.length;
      const stage = { kind: 'stage', stagedId, limitBytes: size } as const;
      const staged = await exchange(stage, {
        method: 'PUT',
        body: ReadableStream.from(body),
        duplex: 'half',
      });
      expect(await staged.json()).toEqual({ stagedId, size });
      const command = { op: 'commit', stagedId, target: { kind: 'path', path: 'big' } } as const;
      const change = { agentId, epoch: 1, command };
      await runtime.requester.request(runtimeRequests.changeFile, change, { host: runtime.host });
      const download = { kind: 'download', path: 'big', within: 'volume', limitBytes: size } as const;
      for await (const chunk of (await exchange(download)).body ?? []) {
        most = Math.max(most, runtime.memory());
        received.update(chunk);
      }
      expect(received.digest('hex')).toBe(sent.digest('hex'));
      return most;
    };
    // Node collects buffers only after about 64 MB of them. Those are there before the measurement, and a host that held
    // a file in memory would still exceed the limit.
    const before = await transferBothWays(50);
    const most = await transferBothWays(150);
    expect(most - before).toBeLessThan(64 * 1024 * 1024);
  });
});

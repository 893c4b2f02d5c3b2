import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecuteCommand, ExecutionOutcome, FoundExecution } from '@berth/contracts/runtime';
import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HostFixture, type RecipeChanges } from '../__fixtures__/host.fixture.js';
import { agentFolders } from '../agent/agent-folders.js';
import { listPids, readStartVariable } from '../driver/process-table.js';

const IDLE_MS = 1_000;
/** A command that signals its start and then waits for the test. */
const HELD = 'echo begun; touch begun; until [ -e go ]; do sleep 0.02; done; echo done';

describe('a command in an agent of a host', () => {
  let host: HostFixture;
  let agentId: string;

  beforeEach(async () => {
    host = await HostFixture.open();
    agentId = await start();
  });

  afterEach(() => host.destroy());

  const start = async (changes: RecipeChanges = {}): Promise<string> => {
    const recipe = HostFixture.recipe({ templateId: 'shell', ...changes });
    await host.agents.start(recipe);
    return recipe.agentId;
  };

  const toCommand = (command: string, changes: Partial<ExecuteCommand> = {}): ExecuteCommand => ({
    agentId,
    epoch: 1,
    executionId: newId('exe'),
    command,
    cwd: null,
    env: {},
    timeoutMs: 60_000,
    wait: true,
    ...changes,
  });

  const execute = (command: string, changes: Partial<ExecuteCommand> = {}): Promise<ExecutionOutcome> =>
    host.executions.execute(toCommand(command, changes));

  const find = (executionId: string, waitMs = 0): Promise<FoundExecution> =>
    host.executions.find({ agentId, executionId, waitMs });

  const inVolume = (name: string): string => join(agentFolders(host.dataDir, agentId).volume, name);
  const begun = (): Promise<boolean> =>
    eventually(() => existsSync(inVolume('begun')), { timeoutMs: 10_000 });
  const go = (): void => writeFileSync(inVolume('go'), '');
  const state = (): string | undefined => host.agents.of(agentId).observed?.state;

  const pastIdle = async (): Promise<void> => {
    const since = performance.now();
    await eventually(() => performance.now() - since > 1.5 * IDLE_MS);
  };

  const killGuest = async (): Promise<void> => {
    for (const pid of await listPids()) {
      const isGuest = (await readStartVariable(pid, 'BERTH_GUEST_SOCKET')) === host.socketOf(agentId);
      if (isGuest) process.kill(pid, 'SIGKILL');
    }
  };

  const failed = { status: 'failed', exitCode: -1, stdout: 'begun\n' };

  it('that is precluded never starts, in this epoch and after a wake', async () => {
    const executionId = newId('exe');
    const preclude = (epoch: number) => host.executions.preclude({ agentId, epoch, executionId });
    await expect(preclude(2)).rejects.toMatchObject({ code: 'stale_epoch' });
    expect(await find(executionId)).toMatchObject({ state: 'absent' });
    expect(await preclude(1)).toEqual({ started: false });
    const never = { status: 'failed', exitCode: -1, stdout: '' };
    expect(await execute('touch begun', { executionId })).toMatchObject(never);
    const agent = host.agents.of(agentId);
    await agent.freeze({ agentId, epoch: 1 });
    await agent.thaw({ agentId, epoch: 2 });
    expect(await execute('touch begun', { executionId, epoch: 2 })).toMatchObject(never);
    expect(await find(executionId)).toMatchObject({ state: 'known', outcome: never });
    expect(existsSync(inVolume('begun'))).toBe(false);
  });

  it('returns its output and exit code, and counts as activity', async () => {
    const outcome = await execute('echo out; echo err >&2; exit 3');
    expect(outcome).toMatchObject({ status: 'completed', exitCode: 3, stdout: 'out\n', stderr: 'err\n' });
    expect(Date.parse(outcome.endedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(outcome.startedAt));
    expect(host.activities.get(agentId)).toMatchObject({ lastActivityKind: 'exec' });
  });

  it('runs once however often it is sent', async () => {
    const command = toCommand('echo x >> times; cat times');
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => host.executions.execute(command)));
    expect(new Set(outcomes.map(({ stdout }) => stdout))).toEqual(new Set(['x\n']));
    expect((await host.executions.execute(command)).stdout).toBe('x\n');
  });

  it('is not started at an epoch other than the agent’s', async () => {
    for (const epoch of [0, 2]) {
      await expect(execute('touch begun', { epoch })).rejects.toMatchObject({
        kind: 'conflict',
        code: 'stale_epoch',
      });
    }
    await expect(execute('touch begun', { agentId: newId('agt') })).rejects.toMatchObject({
      code: 'agent_not_on_host',
    });
    await execute('true');
    expect(existsSync(inVolume('begun'))).toBe(false);
  });

  it('is not started in an invalid folder', async () => {
    await expect(execute('true', { cwd: '/no/such' })).rejects.toMatchObject({
      kind: 'invalid',
      code: 'invalid_cwd',
    });
  });

  it('is not started when it is too large together with its environment', async () => {
    const env = Object.fromEntries(
      Array.from({ length: 64 }, (_, index) => [`V${index}`, 'x'.repeat(32_768)]),
    );
    await expect(execute(`touch begun # ${'x'.repeat(1_000_000)}`, { env })).rejects.toMatchObject({
      kind: 'invalid',
      code: 'invalid_command',
    });
    expect(existsSync(inVolume('begun'))).toBe(false);
  });

  it('keeps the agent awake without a waiting caller; its result is found while the agent is awake and asleep', async () => {
    agentId = await start({ idleTtlSeconds: IDLE_MS / 1000 });
    const command = toCommand(HELD, { wait: false });
    expect(await host.executions.execute(command)).toMatchObject({
      status: 'running',
      exitCode: null,
      stdout: null,
    });
    await begun();
    await pastIdle();
    expect(state()).toBe('running');
    expect(await find(command.executionId)).toMatchObject({ state: 'known', outcome: { status: 'running' } });
    const waiting = find(command.executionId, 20_000);
    go();
    const known = { state: 'known', outcome: { status: 'completed', exitCode: 0, stdout: 'begun\ndone\n' } };
    const found = await waiting;
    expect(found).toMatchObject(known);
    await eventually(() => state() === 'frozen');
    const before = host.activities.get(agentId);
    expect(await find(command.executionId)).toEqual(found);
    expect(state()).toBe('frozen');
    expect(host.activities.get(agentId)).toBe(before);
    await host.agents.of(agentId).stop({ agentId, epoch: 1 });
    expect(await find(command.executionId)).toEqual(found);
  });

  it('is absent for certain only once the guest that is being ended, which may still begin it, is gone', async () => {
    await execute(`trap '' TERM; ${HELD}`, { wait: false });
    await begun();
    const stopping = host.agents.of(agentId).stop({ agentId, epoch: 1 });
    await eventually(() => state() === undefined);
    expect(await find(newId('exe'))).toEqual({ state: 'absent', epoch: 1, awake: false });
    expect(await host.driver.list()).toEqual([]);
    await stopping;
  });

  it('that never started is absent, with the epoch and state of the agent; a removed agent has no executions', async () => {
    expect(await find(newId('exe'))).toEqual({ state: 'absent', epoch: 1, awake: true });
    await host.agents.of(agentId).freeze({ agentId, epoch: 1 });
    expect(await find(newId('exe'))).toEqual({ state: 'absent', epoch: 1, awake: false });
    expect(await find('../../state')).toEqual({ state: 'absent', epoch: 1, awake: false });
    await host.agents.remove(agentId);
    await expect(find(newId('exe'))).rejects.toMatchObject({ kind: 'not_found', code: 'agent_not_on_host' });
  });

  it('is cancelled with its partial output; a finished one is unchanged; an unknown one is not found', async () => {
    const command = toCommand(HELD);
    const outcome = host.executions.execute(command);
    await begun();
    const { executionId } = command;
    const cancelled = await host.executions.cancel({ agentId, executionId });
    expect(cancelled).toMatchObject({ status: 'cancelled', exitCode: -1, stdout: 'begun\n' });
    expect(await outcome).toEqual(cancelled);
    expect(await host.executions.cancel({ agentId, executionId })).toEqual(cancelled);
    await host.agents.of(agentId).freeze({ agentId, epoch: 1 });
    expect(await host.executions.cancel({ agentId, executionId })).toEqual(cancelled);
    await expect(host.executions.cancel({ agentId, executionId: newId('exe') })).rejects.toMatchObject({
      code: 'execution_unknown',
    });
  });

  it('fails with its partial output when the agent is put to sleep, which does not wait for it', async () => {
    const [attached, detached] = [toCommand(HELD), toCommand(HELD, { wait: false })];
    await host.executions.execute(detached);
    await begun();
    rmSync(inVolume('begun'));
    const outcome = host.executions.execute(attached);
    await begun();
    const begunAt = performance.now();
    await host.agents.of(agentId).freeze({ agentId, epoch: 1 });
    expect(performance.now() - begunAt).toBeLessThan(6_000);
    expect(await outcome).toMatchObject(failed);
    for (const { executionId } of [attached, detached]) {
      expect(await find(executionId)).toMatchObject({ state: 'known', outcome: failed });
    }
    await host.agents.of(agentId).thaw({ agentId, epoch: 2 });
    expect(await find(attached.executionId)).toMatchObject({ state: 'known', outcome: failed });
    expect(await execute('echo again', { epoch: 2 })).toMatchObject({
      status: 'completed',
      stdout: 'again\n',
    });
  });

  it('is not started while the agent prepares to sleep, and can be started again once a wake has won', async () => {
    const agent = host.agents.of(agentId);
    const chat = host.deliver(
      agentId,
      1,
      'cd $BERTH_VOLUME; touch begun; until [ -e go ]; do sleep 0.02; done; echo out',
    );
    await begun();
    const asleep = expect(agent.freeze({ agentId, epoch: 1 })).rejects.toMatchObject({ code: 'stale_epoch' });
    await eventually(() => expect(execute('true')).rejects.toMatchObject({ code: 'stale_epoch' }));
    const mkdir = { agentId, epoch: 1, command: { op: 'mkdir', path: 'd' } } as const;
    await expect(host.changeFile(mkdir)).rejects.toMatchObject({ code: 'stale_epoch' });
    const list = { agentId, epoch: 1, transfer: { kind: 'list', path: null } } as const;
    expect(() => host.transfers.open(list)).toThrow(expect.objectContaining({ code: 'stale_epoch' }));
    await agent.thaw({ agentId, epoch: 2 });
    expect(await execute('echo up', { epoch: 2 })).toMatchObject({ status: 'completed', stdout: 'up\n' });
    go();
    expect(await chat).toBe('out');
    await asleep;
    expect(state()).toBe('running');
  });

  it.each([
    ['stopped', () => host.agents.of(agentId).stop({ agentId, epoch: 1 })],
    ['removed', () => host.agents.remove(agentId)],
    [
      'started again',
      () => host.agents.start(HostFixture.recipe({ agentId, epoch: 2, templateId: 'shell' })),
    ],
    ['ended with its host', () => host.agents.shutDown(2_000)],
  ])('fails with its partial output when the agent is %s', async (how, end) => {
    const command = toCommand(HELD);
    const outcome = host.executions.execute(command);
    await begun();
    await end();
    expect(await outcome).toMatchObject(failed);
    if (how !== 'removed') {
      expect(await find(command.executionId)).toMatchObject({ state: 'known', outcome: failed });
    }
  });

  it('fails with the output so far when the agent’s guest is killed', async () => {
    const command = toCommand(HELD);
    const outcome = host.executions.execute(command);
    await begun();
    const file = join(
      agentFolders(host.dataDir, agentId).journal,
      'executions',
      `${command.executionId}.json`,
    );
    await eventually(() => readFileSync(file, 'utf8').includes('begun'));
    await killGuest();
    expect(await outcome).toMatchObject({ ...failed, stderr: '' });
    const found = await find(command.executionId);
    expect(found).toMatchObject({ state: 'known', outcome: failed });
    expect(await find(command.executionId)).toEqual(found);
    await host.agents.start(HostFixture.recipe({ agentId, epoch: 2, templateId: 'shell' }));
    expect(await find(command.executionId)).toMatchObject({ state: 'known', outcome: failed });
  });

  it('is never looked up outside the journal folder', async () => {
    await host.agents.of(agentId).stop({ agentId, epoch: 1 });
    const executions = join(agentFolders(host.dataDir, agentId).journal, 'executions');
    mkdirSync(executions, { recursive: true });
    const [link, torn] = [newId('exe'), newId('exe')];
    symlinkSync(agentFolders(host.dataDir, agentId).state, join(executions, `${link}.json`));
    writeFileSync(join(executions, `${torn}.json`), '{"executionId":');
    expect(await find(link)).toMatchObject({ state: 'absent' });
    expect(await find(torn)).toMatchObject({
      state: 'known',
      outcome: { status: 'failed', exitCode: -1, stdout: '' },
    });
  });

  it('runs attached on an older guest, and cannot be found there later', async () => {
    agentId = await start({ templateId: 'legacy' });
    const legacy = { agentId, epoch: 1, cwd: null, env: { A: 'b' }, timeoutMs: 10_000 };
    expect(
      await host.executions.executeLegacy({ ...legacy, command: 'echo $A; echo err >&2; exit 3' }),
    ).toEqual({
      exitCode: 3,
      output: 'b\nerr\n',
    });
    await expect(
      host.executions.executeLegacy({ ...legacy, epoch: 2, command: 'true' }),
    ).rejects.toMatchObject({
      code: 'stale_epoch',
    });
    await expect(execute('true')).rejects.toMatchObject({ code: 'guest_command_unavailable' });
  });
});

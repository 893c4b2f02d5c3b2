import { chmodSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeExecution, EXECUTIONS_FOLDER, executionFileName } from '@berth/guest-protocol';
import { eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CommandGuest, runs } from '../__fixtures__/executions.fixture.js';

describe('the execution records of a guest', () => {
  let guest: CommandGuest;

  beforeEach(async () => {
    guest = await CommandGuest.open();
  });

  afterEach(() => guest.destroy());

  const pathOf = (executionId: string): string =>
    join(guest.dir, 'journal', EXECUTIONS_FOLDER, executionFileName(executionId));
  const recordOf = (executionId: string): ReturnType<typeof decodeExecution> =>
    decodeExecution(readFileSync(pathOf(executionId), 'utf8'));

  it('are on disk when the caller learns that the command is running', async () => {
    const { executionId, startedAt } = await guest.run('sleep 1000', { waitMs: 0 });
    expect(recordOf(executionId)).toEqual({
      executionId,
      status: 'running',
      exitCode: null,
      stdout: '',
      stderr: '',
      startedAt,
      endedAt: null,
    });
  });

  it('survive a kill of the guest: results stay, and running executions have failed with their partial output', async () => {
    const done = await guest.run('echo done; exit 3');
    const running = await guest.begin('echo partial; echo $$ > begun; exec sleep 1000');
    await eventually(() => recordOf(running)?.stdout === 'partial\n', { timeoutMs: 10_000 });
    const pid = Number(guest.read('begun'));
    await guest.kill();
    await guest.start();
    expect((await guest.find(done.executionId)).body).toEqual(done);
    expect((await guest.find(running)).body).toMatchObject({
      status: 'failed',
      exitCode: -1,
      stdout: 'partial\n',
    });
    expect(recordOf(running)?.status).toBe('failed');
    expect(await guest.run('echo twice > twice', { executionId: running })).toMatchObject({
      status: 'failed',
    });
    expect(await guest.run('echo twice > twice', { executionId: done.executionId })).toEqual(done);
    expect(() => guest.read('twice')).toThrow('ENOENT');
    await eventually(() => !runs(pid));
  });

  it('survive next to files that are torn, empty or half-written', async () => {
    const done = await guest.run('echo done');
    await guest.kill();
    writeFileSync(pathOf('exe_torn'), '{"executionId":"exe_torn","sta');
    writeFileSync(pathOf('exe_empty'), '');
    writeFileSync(`${pathOf('exe_half')}.next`, '{');
    await guest.start();
    for (const id of ['exe_torn', 'exe_empty', 'exe_half']) {
      expect((await guest.find(id)).body.error?.code).toBe('execution_unknown');
    }
    expect((await guest.find(done.executionId)).body).toEqual(done);
  });

  it('precede the command: it does not start if its record cannot be written', async () => {
    const executionId = guest.newId();
    mkdirSync(`${pathOf(executionId)}.next`);
    expect((await guest.execute('touch started', { executionId })).body.error).toMatchObject({
      kind: 'unavailable',
      code: 'guest_command_unavailable',
    });
    expect(() => guest.read('started')).toThrow('ENOENT');
    expect((await guest.find(executionId)).body.error?.code).toBe('execution_unknown');
  });

  it('whose end cannot be written are completed once that is possible again; the caller still gets its response', async () => {
    const executionId = await guest.begin('echo > begun; until [ -e go ]; do sleep 0.01; done; echo done');
    mkdirSync(`${pathOf(executionId)}.next`);
    writeFileSync(join(guest.volume, 'go'), '');
    const { body } = await guest.find(executionId, 20_000);
    expect(body).toMatchObject({ status: 'completed', stdout: 'done\n' });
    expect((await guest.find(executionId)).body).toEqual(body);
    expect(recordOf(executionId)?.status).toBe('running');
    rmdirSync(`${pathOf(executionId)}.next`);
    await eventually(() => recordOf(executionId)?.status === 'completed', { timeoutMs: 10_000 });
    expect((await guest.find(executionId)).body).toEqual(body);
  });

  it('are absent without the volume: the command is rejected, not started elsewhere', async () => {
    rmSync(guest.volume, { recursive: true });
    const executionId = guest.newId();
    expect((await guest.execute('true', { executionId })).body.error?.code).toBe('guest_command_unavailable');
    expect((await guest.find(executionId)).body.error?.code).toBe('execution_unknown');
    expect(() => recordOf(executionId)).toThrow('ENOENT');
    mkdirSync(guest.volume);
    chmodSync(guest.volume, 0o777);
    expect((await guest.run('echo back', { executionId })).stdout).toBe('back\n');
  });
});

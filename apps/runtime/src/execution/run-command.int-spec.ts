import type { ExecuteCommand, ExecutionOutcome } from '@berth/contracts-runtime';
import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { breaksOff, refuses, says, ScriptedGuest } from '../__fixtures__/scripted-guest.fixture.js';
import { runCommand, type AfterRest, type RunningCommand } from './run-command.js';

const EXECUTE = '/v1/executions';
const ONE = '/v1/executions/one';

const executionId = newId('exe');
const startedAt = '2026-01-02T03:04:05.678Z';
const running = {
  executionId,
  status: 'running',
  exitCode: null,
  stdout: null,
  stderr: null,
  startedAt,
  endedAt: null,
};
const over = {
  executionId,
  status: 'completed',
  exitCode: 3,
  stdout: 'out',
  stderr: 'err',
  startedAt,
  endedAt: startedAt,
};
const outcomeOf = ({ status, exitCode, stdout, stderr, endedAt }: typeof over): ExecutionOutcome =>
  ({ status, exitCode, stdout, stderr, startedAt, endedAt }) as ExecutionOutcome;

describe('a command on its way through a guest', () => {
  let scripted: ScriptedGuest;

  beforeEach(async () => {
    scripted = await new ScriptedGuest().open();
  });

  afterEach(() => scripted.close());

  const run = (changes: Partial<ExecuteCommand> = {}, after: Partial<AfterRest> = {}): RunningCommand =>
    runCommand(
      scripted.guest,
      {
        agentId: 'agt_scripted',
        epoch: 1,
        executionId,
        command: 'true',
        cwd: null,
        env: {},
        timeoutMs: 60_000,
        wait: true,
        ...changes,
      },
      { record: async () => undefined, stillHere: () => true, ...after },
    );

  it('brings the outcome of a command that is over at once', async () => {
    scripted.on(EXECUTE, says(over));
    expect(await run().ended).toEqual(outcomeOf(over));
  });

  it('is followed to its end, and keeps the agent awake meanwhile though its start was answered', async () => {
    let ended = false;
    scripted.on(EXECUTE, says(running));
    scripted.on(ONE, (...all) => says(ended ? over : running)(...all));
    const command = run({ wait: false });
    expect(await command.started).toMatchObject({
      status: 'running',
      exitCode: null,
      stdout: null,
      endedAt: null,
    });
    expect(scripted.guest.busy).toBe(true);
    ended = true;
    expect(await command.ended).toEqual(outcomeOf(over));
    await eventually(() => !scripted.guest.busy);
  });

  it.each([
    ['a folder that is none', refuses('invalid', 'invalid_cwd'), 'invalid_cwd'],
    ['a command too large', refuses('invalid', 'invalid_command'), 'invalid_command'],
    ['no shell', refuses('unavailable', 'guest_command_unavailable'), 'guest_command_unavailable'],
    ['an older guest', refuses('unsupported', 'guest_route_unknown'), 'guest_command_unavailable'],
  ])('was not started when the guest refuses it: %s', async (_, script, code) => {
    scripted.on(EXECUTE, script);
    await expect(run().ended).rejects.toMatchObject({ code });
    expect(scripted.times(ONE)).toBe(0);
  });

  it('was not started when nobody takes the connection', async () => {
    scripted.hangUp();
    await expect(run().ended).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'guest_command_unavailable',
    });
  });

  it.each([
    ['breaks off', breaksOff],
    ['says nonsense', says({ status: 'fine' })],
    ['speaks of another', says({ ...over, executionId: newId('exe') })],
    ['fails within', refuses('internal', 'guest_failed')],
    ['says it may have started', refuses('unavailable', 'guest_command_unavailable', { started: true })],
  ])('is handed over once and found again by its id when the guest %s', async (_, script) => {
    scripted.on(EXECUTE, script).on(ONE, says(over));
    expect(await run().ended).toEqual(outcomeOf(over));
    expect(scripted.times(EXECUTE)).toBe(1);
  });

  it('is handed over once and found again by its id when the guest breaks off amid its text', async () => {
    scripted.onArrival(EXECUTE, breaksOff).on(ONE, says(over));
    expect(await run({ command: 'x'.repeat(1_048_576) }).ended).toEqual(outcomeOf(over));
    expect(scripted.times(EXECUTE)).toBe(1);
  });

  it('is of unknown outcome when the guest broke off and lives on without knowing it: it may read it yet', async () => {
    scripted.on(EXECUTE, breaksOff).on(ONE, refuses('not_found', 'execution_unknown'));
    await expect(run().ended).rejects.toMatchObject({ code: 'execution_outcome_unknown' });
    expect(scripted.times(EXECUTE)).toBe(1);
  });

  it('was not started when the guest failed to and does not know it', async () => {
    scripted
      .on(EXECUTE, refuses('internal', 'guest_failed'))
      .on(ONE, refuses('not_found', 'execution_unknown'));
    await expect(run().ended).rejects.toMatchObject({ code: 'guest_command_unavailable' });
  });

  it('was not started when the guest is gone without having written it down', async () => {
    scripted.on(EXECUTE, breaksOff);
    const { ended } = run();
    const refused = expect(ended).rejects.toMatchObject({ code: 'guest_command_unavailable' });
    await eventually(() => scripted.times(EXECUTE) === 1);
    await scripted.guest.close(true);
    await refused;
  });

  it.each([
    [
      'frozen: it may read it once it is woken',
      async (one: ScriptedGuest) => (one.guest.rest(), one.guest.still()),
      true,
    ],
    ['removed, and the journal with it', (one: ScriptedGuest) => one.guest.close(true), false],
    ['not known to be gone', (one: ScriptedGuest) => one.guest.close(false), true],
  ])('is of unknown outcome when nothing is written down and the guest is %s', async (_, end, here) => {
    scripted.on(EXECUTE, breaksOff);
    const { ended } = run({}, { stillHere: () => here });
    const refused = expect(ended).rejects.toMatchObject({ code: 'execution_outcome_unknown' });
    await eventually(() => scripted.times(EXECUTE) === 1);
    await end(scripted);
    await refused;
  });

  it('ends as the guest has written it down when the guest went amid it, and only once nothing moves any more', async () => {
    scripted.on(EXECUTE, says(running)).on('/v1/health', breaksOff);
    let written = outcomeOf({ ...over, stdout: 'too early' });
    const command = run({}, { record: async () => written });
    await command.started;
    scripted.guest.rest();
    // By the time a question has gone there and back it has long been noticed.
    await expect(scripted.guest.client.health()).rejects.toThrow();
    written = outcomeOf({ ...over, status: 'failed', exitCode: -1, stdout: 'partial' });
    scripted.guest.still();
    expect(await command.ended).toMatchObject({ status: 'failed', exitCode: -1, stdout: 'partial' });
  });

  it('that was seen running has failed with its agent although nothing is left of it', async () => {
    scripted.on(EXECUTE, says(running));
    const command = run({}, { stillHere: () => false });
    await command.started;
    await scripted.guest.close(true);
    expect(await command.ended).toMatchObject({ status: 'failed', exitCode: -1, stdout: '', startedAt });
  });
});

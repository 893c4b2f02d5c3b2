import type { ExecuteCommand, ExecutionOutcome } from '@berth/contracts/runtime';
import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { disconnects, refuses, respondsWith, ScriptedGuest } from '../__fixtures__/scripted-guest.fixture.js';
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
      { record: async () => undefined, isOnHost: () => true, ...after },
    );

  it('returns the outcome of a command that ends at once', async () => {
    scripted.on(EXECUTE, respondsWith(over));
    expect(await run().ended).toEqual(outcomeOf(over));
  });

  it('is followed to its end, and keeps the agent awake after its start was confirmed', async () => {
    let ended = false;
    scripted.on(EXECUTE, respondsWith(running));
    scripted.on(ONE, (...all) => respondsWith(ended ? over : running)(...all));
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
    ['an invalid folder', refuses('invalid', 'invalid_cwd'), 'invalid_cwd'],
    ['a command too large', refuses('invalid', 'invalid_command'), 'invalid_command'],
    ['no shell', refuses('unavailable', 'guest_command_unavailable'), 'guest_command_unavailable'],
    ['an older guest', refuses('unsupported', 'guest_route_unknown'), 'guest_command_unavailable'],
  ])('was not started when the guest rejects it: %s', async (_, script, code) => {
    scripted.on(EXECUTE, script);
    await expect(run().ended).rejects.toMatchObject({ code });
    expect(scripted.times(ONE)).toBe(0);
  });

  it('was not started when the connection is refused', async () => {
    scripted.hangUp();
    await expect(run().ended).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'guest_command_unavailable',
    });
  });

  it.each([
    ['disconnects', disconnects],
    ['returns nonsense', respondsWith({ status: 'fine' })],
    ['reports another execution', respondsWith({ ...over, executionId: newId('exe') })],
    ['fails internally', refuses('internal', 'guest_failed')],
    ['reports that it may have started', refuses('unavailable', 'guest_command_unavailable', {}, 'unknown')],
  ])('is sent once and found again by its id when the guest %s', async (_, script) => {
    scripted.on(EXECUTE, script).on(ONE, respondsWith(over));
    expect(await run().ended).toEqual(outcomeOf(over));
    expect(scripted.times(EXECUTE)).toBe(1);
  });

  it('is sent once and found again by its id when the guest disconnects before it has read the request', async () => {
    scripted.onArrival(EXECUTE, disconnects).on(ONE, respondsWith(over));
    expect(await run({ command: 'x'.repeat(1_048_576) }).ended).toEqual(outcomeOf(over));
    expect(scripted.times(EXECUTE)).toBe(1);
  });

  it('has an unknown outcome when the connection broke and the guest, still alive, has no record of it yet', async () => {
    scripted.on(EXECUTE, disconnects).on(ONE, refuses('not_found', 'execution_unknown'));
    await expect(run().ended).rejects.toMatchObject({ code: 'execution_outcome_unknown' });
    expect(scripted.times(EXECUTE)).toBe(1);
  });

  it('was not started when the guest failed to start it and does not know it', async () => {
    scripted
      .on(EXECUTE, refuses('internal', 'guest_failed'))
      .on(ONE, refuses('not_found', 'execution_unknown'));
    await expect(run().ended).rejects.toMatchObject({ code: 'guest_command_unavailable' });
  });

  it('was not started when the guest is gone and has no record of it', async () => {
    scripted.on(EXECUTE, disconnects);
    const { ended } = run();
    const refused = expect(ended).rejects.toMatchObject({ code: 'guest_command_unavailable' });
    await eventually(() => scripted.times(EXECUTE) === 1);
    await scripted.guest.close(true);
    await refused;
  });

  it.each([
    [
      'frozen, because it may read the request once it is woken',
      async (one: ScriptedGuest) => (one.guest.rest(), one.guest.halt()),
      true,
    ],
    ['removed together with its journal', (one: ScriptedGuest) => one.guest.close(true), false],
    ['not known to be gone', (one: ScriptedGuest) => one.guest.close(false), true],
  ])('has an unknown outcome when there is no record of it and the guest is %s', async (_, end, here) => {
    scripted.on(EXECUTE, disconnects);
    const { ended } = run({}, { isOnHost: () => here });
    const refused = expect(ended).rejects.toMatchObject({ code: 'execution_outcome_unknown' });
    await eventually(() => scripted.times(EXECUTE) === 1);
    await end(scripted);
    await refused;
  });

  it('ends as recorded if the guest ended in the meantime, and only after all processes have stopped', async () => {
    scripted.on(EXECUTE, respondsWith(running)).on('/v1/health', disconnects);
    let written = outcomeOf({ ...over, stdout: 'too early' });
    const command = run({}, { record: async () => written });
    await command.started;
    scripted.guest.rest();
    // This request takes longer than the host needs to notice.
    await expect(scripted.guest.client.health()).rejects.toThrow();
    written = outcomeOf({ ...over, status: 'failed', exitCode: -1, stdout: 'partial' });
    scripted.guest.halt();
    expect(await command.ended).toMatchObject({ status: 'failed', exitCode: -1, stdout: 'partial' });
  });

  it('that was seen running has failed with its agent even if no record of it is left', async () => {
    scripted.on(EXECUTE, respondsWith(running));
    const command = run({}, { isOnHost: () => false });
    await command.started;
    await scripted.guest.close(true);
    expect(await command.ended).toMatchObject({ status: 'failed', exitCode: -1, stdout: '', startedAt });
  });
});

import type { ExecuteCommand, ExecutionOutcome } from '@berth/contracts/runtime';
import type { ExecutionReport, RunCommand } from '@berth/guest-protocol';
import { isDomainError, type DomainError } from '@berth/kernel';
import { staleEpoch } from '../agent/agent-refusals.js';
import type { BoxedGuest } from '../agent/boxed-guest.js';
import { neverSent } from '../guest/guest-socket.js';
import { toOutcome } from './execution-outcome.js';
import { commandUnavailable, outcomeUnknown } from './execution-refusals.js';
import { followExecution, WAIT_MS } from './follow-execution.js';

/** Errors that the guest raises because of the command itself. */
const CALLERS_FAULT: ReadonlySet<string> = new Set(['invalid_cwd', 'invalid_command']);

/** A command that was sent. Both promises reject if it was not started or its outcome is unknown. */
export interface RunningCommand {
  /** The first known state: running, or already over. */
  readonly started: Promise<ExecutionOutcome>;
  readonly ended: Promise<ExecutionOutcome>;
}

/** Access to the agent's data after its guest came to rest. */
export interface AfterRest {
  /** The guest's record of the execution; undefined if it never started. */
  readonly record: () => Promise<ExecutionOutcome | undefined>;
  /** Whether the agent still exists; its removal deletes the journal. */
  readonly isOnHost: () => boolean;
}

/** Runs a command and keeps the agent awake until the command has ended, even without a waiting caller. */
export const runCommand = (guest: BoxedGuest, command: ExecuteCommand, after: AfterRest): RunningCommand => {
  const started = Promise.withResolvers<ExecutionOutcome>();
  const ended = guest.during('exec', ({ halted }) => run(guest, command, after, halted, started.resolve));
  ended.then(started.resolve, started.reject);
  started.promise.catch(() => undefined);
  return { started: started.promise, ended };
};

/** The error of a command that was certainly not started; undefined if it may have been. */
export const whyNotStarted = (error: unknown, guest: BoxedGuest, epoch: number): DomainError | undefined => {
  if (neverSent(error)) return commandUnavailable(error);
  if (!isDomainError(error) || error.code === 'guest_unreachable') return undefined;
  if (error.kind === 'internal' || error.effect === 'unknown') return undefined;
  if (error.kind === 'invalid' && CALLERS_FAULT.has(error.code)) return error;
  return guest.closing || !guest.awake ? staleEpoch(epoch, 'freezing') : commandUnavailable(error);
};

const run = async (
  guest: BoxedGuest,
  command: ExecuteCommand,
  after: AfterRest,
  halted: AbortSignal,
  onStarted: (outcome: ExecutionOutcome) => void,
): Promise<ExecutionOutcome> => {
  let seen: ExecutionReport | undefined;
  let responded = true;
  const onReport = (report: ExecutionReport): void => {
    seen = report;
    onStarted(toOutcome(report));
  };
  try {
    const first = await guest.client.execute(toRun(command), halted);
    if (first.status !== 'running') return toOutcome(first);
    onReport(first);
  } catch (error) {
    const refusal = whyNotStarted(error, guest, command.epoch);
    if (refusal !== undefined) throw refusal;
    responded = isDomainError(error) && error.code !== 'guest_unreachable';
  }
  for (let until = halted; ;) {
    const followed = await followExecution(guest, command.executionId, until, onReport);
    // A guest that has not responded yet may still read the request.
    if (followed === 'unknown')
      throw responded && seen === undefined ? commandUnavailable() : outcomeUnknown();
    if (followed !== 'at_rest') return toOutcome(followed);
    // If putting the agent to sleep failed, everything is still running.
    if (!guest.awake) return afterRest(guest, seen, after);
    until = guest.signals.halted;
  }
};

const afterRest = async (
  guest: BoxedGuest,
  seen: ExecutionReport | undefined,
  { record, isOnHost }: AfterRest,
): Promise<ExecutionOutcome> => {
  const recorded = await record();
  if (recorded !== undefined) return recorded;
  if (seen !== undefined) {
    const endedAt = new Date().toISOString();
    return { ...toOutcome(seen), status: 'failed', exitCode: -1, stdout: '', stderr: '', endedAt };
  }
  // A frozen guest may still read the request later, and the journal of a removed agent is gone.
  throw guest.ended && isOnHost() ? commandUnavailable() : outcomeUnknown();
};

const toRun = ({ executionId, command, cwd, env, timeoutMs, wait }: ExecuteCommand): RunCommand => ({
  executionId,
  command,
  cwd,
  env,
  timeoutMs,
  waitMs: wait ? WAIT_MS : 0,
});

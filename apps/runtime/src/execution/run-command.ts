import type { ExecuteCommand, ExecutionOutcome } from '@berth/contracts-runtime';
import type { ExecutionReport, RunCommand } from '@berth/guest-protocol';
import { isDomainError, type DomainError } from '@berth/kernel';
import { staleEpoch } from '../agent/agent-refusals.js';
import type { BoxedGuest } from '../agent/boxed-guest.js';
import { neverSent } from '../guest/guest-socket.js';
import { toOutcome } from './execution-outcome.js';
import { commandUnavailable, outcomeUnknown } from './execution-refusals.js';
import { followExecution, WAIT_MS } from './follow-execution.js';

/** What a guest finds wrong with a command itself. */
const CALLERS_FAULT: ReadonlySet<string> = new Set(['invalid_cwd', 'invalid_command']);

/** A command on its way. Both fail alike when it was not started or nothing is known of it. */
export interface RunningCommand {
  /** The first that is known of it: it runs, or is over already. */
  readonly started: Promise<ExecutionOutcome>;
  readonly ended: Promise<ExecutionOutcome>;
}

/** What a run needs to know of its agent once its guest is at rest. */
export interface AfterRest {
  /** What the guest has written down of it; undefined when it never began it. */
  readonly record: () => Promise<ExecutionOutcome | undefined>;
  /** Whether the agent was not removed, and its journal with it. */
  readonly stillHere: () => boolean;
}

/** Runs a command and keeps the agent awake until it is over, whether anybody waits for it or not. */
export const runCommand = (guest: BoxedGuest, command: ExecuteCommand, after: AfterRest): RunningCommand => {
  const started = Promise.withResolvers<ExecutionOutcome>();
  const ended = guest.during('exec', ({ still }) => run(guest, command, after, still, started.resolve));
  ended.then(started.resolve, started.reject);
  started.promise.catch(() => undefined);
  return { started: started.promise, ended };
};

/** Why a command that was handed to a guest certainly was not started; undefined: it may have been. */
export const whyNotStarted = (error: unknown, guest: BoxedGuest, epoch: number): DomainError | undefined => {
  if (neverSent(error)) return commandUnavailable(error);
  if (!isDomainError(error) || error.code === 'guest_unreachable') return undefined;
  if (error.kind === 'internal' || error.context['started'] === true) return undefined;
  if (error.kind === 'invalid' && CALLERS_FAULT.has(error.code)) return error;
  return guest.closing || !guest.awake ? staleEpoch(epoch, 'freezing') : commandUnavailable(error);
};

const run = async (
  guest: BoxedGuest,
  command: ExecuteCommand,
  after: AfterRest,
  still: AbortSignal,
  onStarted: (outcome: ExecutionOutcome) => void,
): Promise<ExecutionOutcome> => {
  let seen: ExecutionReport | undefined;
  let answered = true;
  const onReport = (report: ExecutionReport): void => {
    seen = report;
    onStarted(toOutcome(report));
  };
  try {
    const first = await guest.client.execute(toRun(command), still);
    if (first.status !== 'running') return toOutcome(first);
    onReport(first);
  } catch (error) {
    const refusal = whyNotStarted(error, guest, command.epoch);
    if (refusal !== undefined) throw refusal;
    answered = isDomainError(error) && error.code !== 'guest_unreachable';
  }
  for (let until = still; ;) {
    const followed = await followExecution(guest, command.executionId, until, onReport);
    // A guest that has not answered yet may still read the request.
    if (followed === 'unknown')
      throw answered && seen === undefined ? commandUnavailable() : outcomeUnknown();
    if (followed !== 'at_rest') return toOutcome(followed);
    // A sleep that failed leaves everything running.
    if (!guest.awake) return afterRest(guest, seen, after);
    until = guest.cuts.still;
  }
};

const afterRest = async (
  guest: BoxedGuest,
  seen: ExecutionReport | undefined,
  { record, stillHere }: AfterRest,
): Promise<ExecutionOutcome> => {
  const recorded = await record();
  if (recorded !== undefined) return recorded;
  if (seen !== undefined) {
    const endedAt = new Date().toISOString();
    return { ...toOutcome(seen), status: 'failed', exitCode: -1, stdout: '', stderr: '', endedAt };
  }
  // A frozen guest may still have the request before it; of a removed agent the journal is gone too.
  throw guest.ended && stillHere() ? commandUnavailable() : outcomeUnknown();
};

const toRun = ({ executionId, command, cwd, env, timeoutMs, wait }: ExecuteCommand): RunCommand => ({
  executionId,
  command,
  cwd,
  env,
  timeoutMs,
  waitMs: wait ? WAIT_MS : 0,
});

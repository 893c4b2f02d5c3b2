import { defineRequest, deriveId, type CommandEnvelope, type Page } from '@berth/kernel';
import type { NullWhenAbsent } from '../schema/index.js';
import type { ConsoleQuery, ListExecutionsQuery, SubmitBody } from './exec.schemas.js';
import type { ExecutionStatus, ExecutionView } from '../hosting/index.js';

/** The longest command, in bytes of UTF-8. */
export const COMMAND_LIMIT_BYTES = 1_048_576;

/** A command to run in an agent. The id of the execution derives from `commandId` (`executionIdOf`). */
export interface SubmitExecution
  extends CommandEnvelope, Pick<NullWhenAbsent<SubmitBody>, 'detached' | 'cwd'> {
  readonly agentId: string;
  /** A shell command; the gateway has already quoted a list of arguments. */
  readonly command: string;
  /** null means 60 (attached) or 3600 (detached). */
  readonly timeoutSeconds: NullWhenAbsent<SubmitBody>['timeout'];
  readonly env: NonNullable<SubmitBody['env']>;
  /**
   * Whether an earlier attempt with the same command id may have started the command. If so, `exec` looks for it in the
   * event log before it starts anything.
   */
  readonly repeated: boolean;
}

/** The outcome of a submission. `legacy`: the result from an older guest, without an execution. */
export type SubmittedExecution =
  | { readonly kind: 'execution'; readonly execution: ExecutionView }
  | { readonly kind: 'legacy'; readonly exitCode: number; readonly stdout: string };

export interface ExecutionRef {
  readonly accountId: string;
  readonly agentId: string;
  readonly executionId: string;
}

export interface AwaitExecution extends ExecutionRef {
  /** How long to wait for the end, in milliseconds; at most 20,000. */
  readonly waitMs: number;
}

export interface CancelExecution extends CommandEnvelope {
  readonly agentId: string;
  readonly executionId: string;
}

export interface ListExecutions extends NullWhenAbsent<ListExecutionsQuery> {
  readonly accountId: string;
  readonly agentId: string;
}

/** An execution in a list, without its output. Times are ISO 8601. */
export interface ExecutionSummary {
  readonly executionId: string;
  readonly status: ExecutionStatus;
  /** null while it runs. */
  readonly exitCode: number | null;
  readonly detached: boolean;
  /** Seconds. */
  readonly timeout: number;
  readonly createdAt: string;
  readonly endedAt: string | null;
}

/** Permits one request to the agent's host within 10 s: `url` with `Authorization: Bearer <ticket>`. */
export interface StreamTicket {
  readonly url: string;
  /** The host that issued the ticket; services of earlier versions leave it out. */
  readonly host?: string;
  readonly ticket: string;
}

/** While the command runs, where to follow its output on the host; afterwards, the execution with its output. */
export type FollowedOutput =
  | { readonly kind: 'live'; readonly stream: StreamTicket }
  | { readonly kind: 'ended'; readonly execution: ExecutionView };

export interface OpenConsole extends CommandEnvelope, ConsoleQuery {
  readonly agentId: string;
  /** The epoch of the previous ticket if the host rejected it, otherwise null. */
  readonly refusedEpoch: number | null;
}

/**
 * Requests to `exec`. Errors: not_found `agent_not_found`, `execution_not_found`. Errors of `submit`: conflict
 * `vm_not_ready` (context `state: "starting"`, `execution_started: false`) and unavailable `guest_command_unavailable`
 * (context `execution_started: false`), both only if the command certainly did not start; invalid `invalid_cwd`,
 * `invalid_command`; unsupported `detached_unsupported`; upstream `execution_outcome_unknown` (context `executionId`).
 */
export const execRequests = {
  /**
   * Attached: returns at the end, so callers set their own deadline (`timeoutSeconds` plus a wake). Detached: returns
   * once started.
   */
  submit: defineRequest<SubmitExecution, SubmittedExecution>('cmd.exec.submit.v1', 90_000, {
    whenLost: 'report',
  }),
  get: defineRequest<ExecutionRef, ExecutionView>('qry.exec.get.v1'),
  /** Like `get`, but waits for the end. Works on any instance. */
  await: defineRequest<AwaitExecution, ExecutionView>('qry.exec.await.v1', 25_000),
  /** Returns the final result; that of an ended execution is unchanged. */
  cancel: defineRequest<CancelExecution, ExecutionView>('cmd.exec.cancel.v1', 20_000, { whenLost: 'repeat' }),
  /** Newest first: running executions, and those whose result is still stored. */
  list: defineRequest<ListExecutions, Page<ExecutionSummary>>('qry.exec.list.v1'),
  followOutput: defineRequest<ExecutionRef, FollowedOutput>('cmd.exec.follow-output.v1', 10_000, {
    whenLost: 'repeat',
  }),
  /**
   * Wakes the agent. Errors: conflict `agent_deploying`, `agent_stopped`, `agent_failed`; unsupported
   * `console_unsupported`.
   */
  openConsole: defineRequest<OpenConsole, StreamTicket & { readonly epoch: number }>(
    'cmd.exec.open-console.v1',
    75_000,
    { whenLost: 'repeat' },
  ),
};

/** `exe_…` with the random part of the command's id, so that a repeated command names the same execution. */
export const executionIdOf = (commandId: string): string => deriveId('exe', commandId);

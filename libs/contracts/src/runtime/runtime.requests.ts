import { defineRequest, type ErrorKind } from '@berth/kernel';
import type { NullWhenAbsent } from '../schema/index.js';
import type { BuildRef, BuildState, BuildVersion } from './builds.js';
import type { AgentEpoch, IdleTime } from './agent-epoch.js';
import type {
  ExecuteCommand,
  ExecuteLegacyCommand,
  ExecutionOutcome,
  FindExecution,
  FoundExecution,
  LegacyOutcome,
  PrecludedExecution,
  PrecludeExecution,
} from './executions.js';
import type { LogLevel, LogSource, LogsQuery } from './logs.schemas.js';
import type { StartSource } from './start-source.js';
import type { ChangeFile, FileChange, OpenTransfer, TransferTicket } from './transfers.js';

/** A runtime host's description of itself. */
export interface HostView {
  readonly host: string;
  /** `process` or `nerdctl`. */
  readonly driver: string;
  /** Whether it runs container images; hosts of earlier versions leave it out. */
  readonly images?: boolean;
  readonly freeMemMb: number;
  readonly agents: number;
  /** Identity of the event log that the host's agents are in; null before its first announcement. */
  readonly logId: string | null;
  /** GB (2^30 bytes); hosts of earlier versions leave it out. */
  readonly diskGb?: { readonly total: number; readonly free: number };
  /** What is left of the disk with the agents' data; hosts of earlier versions leave it out. */
  readonly disk?: 'ok' | 'low' | 'full';
  /** See `HostFigures`. */
  readonly grantableDiskGb?: number;
  /** Whether an agent needs as much free disk as it may use; hosts of earlier versions leave it out. */
  readonly limitsDisk?: boolean;
  /** See `HostFigures`. */
  readonly desktops?: boolean;
}

/** Everything a host needs to start an agent. */
export interface StartAgent extends AgentEpoch {
  readonly accountId: string;
  readonly source: StartSource;
  /** The template that the agent was created from, whatever it runs now; requests of earlier versions leave it out. */
  readonly templateId?: string;
  /** Environment of the agent's program, secrets included; never logged. */
  readonly env: { readonly [key: string]: string };
  /** Names of the variables in `env` whose values are secret. */
  readonly secretKeys: readonly string[];
  /** Value of `BERTH_AGENT_TOKEN` for this start. */
  readonly token: string;
  readonly instructions: string | null;
  readonly resources: { readonly memMb: number; readonly vcpus: number; readonly diskGb: number };
  /** The display of a computer, in pixels; absent for an agent. */
  readonly desktop?: { readonly width: number; readonly height: number };
  /** Seconds of inactivity after which the host freezes the agent; 0 means never. */
  readonly idleTtlSeconds: number;
  /** Maximum time for the whole start, clean-up after a failure included. The agent must be ready within it. */
  readonly deadlineMs: number;
}

/** Without an idle time, the one of the last start stays. */
export type ThawAgent = AgentEpoch & Partial<IdleTime>;

export interface StartedAgent {
  readonly guest: { readonly version: string; readonly capabilities: readonly string[] };
}

export interface DeliverMessage extends AgentEpoch {
  /** `dlv_…`: the host hands over a message with a given id at most once. */
  readonly deliveryId: string;
  readonly conversationId: string;
  readonly message: string;
  /** Files in the agent's inbox that belong to the message; absolute paths as the agent sees them. */
  readonly attachments?: readonly { readonly path: string; readonly name: string; readonly size: number }[];
  /** The source of a message that no caller waits for; then only the status of the program's answer counts. */
  readonly source?: 'webhook' | 'schedule';
  /** The content type of a webhook's body, null if it had none. */
  readonly contentType?: string | null;
}

export interface DeliveredMessage {
  readonly response: string;
}

export interface FindDelivery {
  readonly agentId: string;
  readonly deliveryId: string;
}

/**
 * A message's state in the agent's journal. `absent`: never handed over at this host. `open`: queued, or handed over
 * with no known outcome.
 */
export type FoundDelivery =
  | { readonly state: 'absent' | 'open' }
  | { readonly state: 'answered'; readonly response: string }
  | { readonly state: 'failed'; readonly kind: ErrorKind; readonly code: string; readonly message: string };

export interface LogEntry {
  readonly timestamp: string;
  readonly level: LogLevel;
  readonly source: LogSource;
  readonly message: string;
}

/**
 * Upper bound for `waitMs`. The host notices a disconnected reader only when its request ends, so requests stay short.
 */
export const MAX_LOG_WAIT_MS = 10_000;

/**
 * Without `cursor` the newest `limit` entries, with `cursor` the oldest `limit` after the page that returned it; always
 * oldest first.
 */
export interface ReadLogs extends NullWhenAbsent<Omit<LogsQuery, 'follow'>> {
  readonly agentId: string;
  /** With a cursor: wait up to this many milliseconds (at most `MAX_LOG_WAIT_MS`) for a new entry. */
  readonly waitMs: number;
}

export interface LogsPage {
  readonly logs: readonly LogEntry[];
  readonly nextCursor: string | null;
}

/** An agent's state on a host. */
export interface ObservedAgent extends AgentEpoch {
  readonly state: 'starting' | 'running' | 'frozen';
  /** See `IdleTime`. */
  readonly idleTtlSeconds: number;
}

/** The resources that an agent uses on its host. null: unknown, or the agent has no processes. */
export interface AgentUsage {
  readonly memBytes: number | null;
  /** Since the start. */
  readonly cpuSeconds: number | null;
  /** Processes and threads. */
  readonly processes: number | null;
  /** Of the volume. */
  readonly diskBytes: number | null;
  /** ISO 8601. */
  readonly startedAt: string | null;
}

export interface ReplaceEnv extends AgentEpoch {
  readonly env: { readonly [key: string]: string };
  readonly secretKeys: readonly string[];
}

/** Code of the error with which a host refuses to start an agent because it can start none at present. */
export const HOST_UNAVAILABLE = 'host_unavailable';

/** Like `HOST_UNAVAILABLE`, because the disk of the host is full. The message is shown to the agent's owner. */
export const HOST_FULL = 'host_full';

/**
 * Requests that a runtime host handles. Errors common to all: not_found `agent_not_on_host`; conflict `stale_epoch`
 * (context `epoch`, `state`; nothing was done); unavailable `guest_unreachable`.
 */
export const runtimeRequests = {
  /** Sent to all hosts (no queue group); each host responds for itself. */
  hosts: defineRequest<Record<string, never>, HostView>('qry.runtime.hosts.v1', 1_000),
  /**
   * Fetches and builds a version of an agent, in any state of the agent. Returns the state of the build. A build that
   * has begun and that the host no longer has is `failed` with `interrupted`.
   */
  build: defineRequest<BuildVersion, BuildState>('cmd.runtime.build.v1.{host}', 30_000, {
    whenLost: 'repeat',
  }),
  /** Ends a build and deletes what it made. A no-op for an unknown one. */
  cancelBuild: defineRequest<BuildRef, Record<string, never>>('cmd.runtime.cancel-build.v1.{host}', 15_000, {
    whenLost: 'repeat',
  }),
  /** Sent to one host, to check that it is up. Errors: unavailable `service_unavailable` while it can start no agent. */
  describe: defineRequest<Record<string, never>, HostView>('qry.runtime.describe.v1.{host}', 1_000),
  /**
   * Creates what is missing and starts the agent; returns once the guest and the agent's program are ready. A request
   * with the same epoch joins the running start. Errors: upstream `agent_start_failed`; unavailable `host_unavailable`
   * (`HOST_UNAVAILABLE`) or `host_full` (`HOST_FULL`): nothing was started, and the host can start no agent at present.
   */
  start: defineRequest<StartAgent, StartedAgent>('cmd.runtime.start.v1.{host}', 65_000, {
    whenLost: 'repeat',
  }),
  /** Wakes a frozen agent under a new, higher epoch. Errors: conflict `agent_not_frozen`. */
  thaw: defineRequest<ThawAgent, StartedAgent>('cmd.runtime.thaw.v1.{host}', 10_000, { whenLost: 'repeat' }),
  /**
   * Freezes the agent once its work in flight is finished, after 20 s at the latest. A no-op if it is already frozen at
   * that epoch.
   */
  freeze: defineRequest<AgentEpoch, Record<string, never>>('cmd.runtime.freeze.v1.{host}', 30_000, {
    whenLost: 'repeat',
  }),
  /** Changes the idle time of agents, also of frozen ones. Ignores those that the host does not have at that epoch. */
  setIdleTimes: defineRequest<{ readonly agents: readonly IdleTime[] }, Record<string, never>>(
    'cmd.runtime.set-idle-times.v1.{host}',
    10_000,
    { whenLost: 'repeat' },
  ),
  /**
   * Ends the agent's processes (TERM, 10 s, KILL) and keeps the volume. A no-op if nothing runs. Accepts an epoch above
   * the host's own.
   */
  stop: defineRequest<AgentEpoch, Record<string, never>>('cmd.runtime.stop.v1.{host}', 25_000, {
    whenLost: 'repeat',
  }),
  /** Ends the agent and removes its container, volume and logs. A no-op for an unknown agent. */
  remove: defineRequest<{ readonly agentId: string }, Record<string, never>>(
    'cmd.runtime.remove.v1.{host}',
    25_000,
    { whenLost: 'repeat' },
  ),
  /** Restarts the agent's program with a new environment. */
  replaceEnv: defineRequest<ReplaceEnv, Record<string, never>>('cmd.runtime.replace-env.v1.{host}', 65_000),
  /**
   * Hands a message to the agent's program and waits for its response. Errors: upstream `agent_error`, timeout
   * `agent_timeout`, unavailable `agent_unavailable`, unsupported `chat_unsupported`; unavailable `delivery_declined`
   * (with a `source`: the program answered 429 or 503), `delivery_outcome_unknown` (it got the message earlier).
   */
  deliver: defineRequest<DeliverMessage, DeliveredMessage>('cmd.runtime.deliver.v1.{host}', 610_000, {
    whenLost: 'repeat',
    onlyWhileAwaited: true,
  }),
  /**
   * Reads a message's state from the guest, or from its journal if the guest is gone. Does not wake the agent or count
   * as activity.
   */
  findDelivery: defineRequest<FindDelivery, FoundDelivery>('qry.runtime.find-delivery.v1.{host}', 4_000),
  /**
   * Runs a command; a running command keeps the agent awake. Errors that mean it did not start: the common ones except
   * `guest_unreachable`; invalid `invalid_cwd`, `invalid_command`; unavailable `guest_command_unavailable`. Errors that
   * leave open whether it started: unavailable `execution_outcome_unknown`, and transport errors. Callers set their own
   * deadline.
   */
  execute: defineRequest<ExecuteCommand, ExecutionOutcome>('cmd.runtime.execute.v1.{host}', 70_000, {
    whenLost: 'report',
    onlyWhileAwaited: true,
  }),
  /** Like `execute`, on an older guest; the outcome cannot be looked up later. */
  executeLegacy: defineRequest<ExecuteLegacyCommand, LegacyOutcome>(
    'cmd.runtime.execute-legacy.v1.{host}',
    150_000,
    { onlyWhileAwaited: true },
  ),
  /**
   * Reads an execution from the guest, or from its journal if the guest is gone. Does not wake the agent or count as
   * activity.
   */
  findExecution: defineRequest<FindExecution, FoundExecution>('qry.runtime.find-execution.v1.{host}', 25_000),
  /**
   * Makes an execution that has not started never start, in any epoch. Errors: conflict `stale_epoch`, not_found
   * `agent_not_on_host`, unavailable `guest_unreachable`, unsupported `guest_route_unknown` on an older guest.
   */
  precludeExecution: defineRequest<PrecludeExecution, PrecludedExecution>(
    'cmd.runtime.preclude-execution.v1.{host}',
    4_000,
    { whenLost: 'repeat' },
  ),
  /**
   * Sends TERM, then KILL after 2 s; returns the final outcome, even if the command ended on its own first. Errors:
   * not_found `execution_unknown`.
   */
  cancelExecution: defineRequest<
    { readonly agentId: string; readonly executionId: string },
    ExecutionOutcome
  >('cmd.runtime.cancel-execution.v1.{host}', 10_000, { whenLost: 'repeat' }),
  /**
   * Issues a ticket for one transfer. Except for output, it counts as activity in flight: for 10 s or, once redeemed,
   * until the transfer is over. Errors: unavailable `guest_unreachable`.
   */
  openTransfer: defineRequest<OpenTransfer, TransferTicket>('cmd.runtime.open-transfer.v1.{host}', 10_000, {
    whenLost: 'repeat',
  }),
  /** Closes open sockets of a computer's viewers, those of these sessions; null: all. Never wakes it. */
  closeViewers: defineRequest<
    { readonly agentId: string; readonly sessionIds: readonly string[] | null },
    Record<string, never>
  >('cmd.runtime.close-viewers.v1.{host}', 5_000, { whenLost: 'repeat' }),
  /** Changes the volume. Errors: see `FileCommand`. */
  changeFile: defineRequest<ChangeFile, FileChange>('cmd.runtime.change-file.v1.{host}', 30_000, {
    onlyWhileAwaited: true,
  }),
  /** Measures an agent; does not wake it or count as activity. */
  usage: defineRequest<{ readonly agentId: string }, AgentUsage>('qry.runtime.usage.v1.{host}', 10_000),
  /**
   * Works for failed and sleeping agents; does not wake the agent or count as activity. Callers that wait set a longer
   * deadline.
   */
  logs: defineRequest<ReadLogs, LogsPage>('qry.runtime.logs.v1.{host}', 6_000),
};

import { defineRequest, type ErrorKind } from '@berth/kernel';
import type { AgentEpoch } from './agent-epoch.js';
import type {
  ExecuteCommand,
  ExecuteLegacyCommand,
  ExecutionOutcome,
  FindExecution,
  FoundExecution,
  LegacyOutcome,
} from './executions.js';
import type { ChangeFile, FileChange, OpenTransfer, TransferTicket } from './transfers.js';

/** One runtime host, as it describes itself. */
export interface HostView {
  readonly host: string;
  /** `process` or `nerdctl`. */
  readonly driver: string;
  readonly freeMemMb: number;
  readonly agents: number;
}

/** What an agent is started from and with. */
export interface StartAgent extends AgentEpoch {
  readonly accountId: string;
  readonly templateId: string;
  /** Folder name of the template under the templates folder, or an image reference for the nerdctl driver. */
  readonly source: { readonly kind: 'template' | 'git' | 'image'; readonly image?: string };
  /** Environment of the agent's program, secrets included; never logged. */
  readonly env: { readonly [key: string]: string };
  /** Names in `env` whose values are secret. */
  readonly secretKeys: readonly string[];
  /** `BERTH_AGENT_TOKEN` of this start. */
  readonly token: string;
  readonly instructions: string | null;
  readonly resources: { readonly memMb: number; readonly vcpus: number; readonly diskGb: number };
  /** Seconds without activity until the host freezes the agent; 0 never. */
  readonly idleTtlSeconds: number;
  /** Whether the template has a chat endpoint to wait for. */
  readonly deadlineMs: number;
}

export interface StartedAgent {
  readonly guest: { readonly version: string; readonly capabilities: readonly string[] };
}

export interface DeliverMessage extends AgentEpoch {
  /** `dlv_…`: a message handed over is never handed over twice. */
  readonly deliveryId: string;
  readonly conversationId: string;
  readonly message: string;
  /** Files in the agent's inbox that came with it; absolute paths as the agent sees them. */
  readonly attachments?: readonly { readonly path: string; readonly name: string; readonly size: number }[];
}

export interface DeliveredMessage {
  readonly response: string;
}

export interface FindDelivery {
  readonly agentId: string;
  readonly deliveryId: string;
}

/**
 * What an agent's journal has of a message. `absent`: it was never handed over there. `open`: it waits for its turn, or
 * was handed over and no outcome is known.
 */
export type FoundDelivery =
  | { readonly state: 'absent' | 'open' }
  | { readonly state: 'answered'; readonly response: string }
  | { readonly state: 'failed'; readonly kind: ErrorKind; readonly code: string; readonly message: string };

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type LogSource = 'agent' | 'system' | 'build';

export interface LogEntry {
  readonly timestamp: string;
  readonly level: LogLevel;
  readonly source: LogSource;
  readonly message: string;
}

/** A reader that goes away is noticed when its question ends, so no question stays open for long. */
export const LONGEST_LOG_WAIT_MS = 10_000;

export interface ReadLogs {
  readonly agentId: string;
  /** 1 to 1000; the newest `limit` entries, oldest first; with `cursor` the oldest `limit` after it. */
  readonly limit: number;
  /** The lowest level shown. */
  readonly level: LogLevel | null;
  /** ISO 8601: only entries at or after. */
  readonly since: string | null;
  readonly source: LogSource | null;
  /** Goes on behind an earlier answer's `nextCursor`. */
  readonly cursor: string | null;
  /** With a cursor: wait up to so many milliseconds (at most `LONGEST_LOG_WAIT_MS`) for a new entry. */
  readonly waitMs: number;
}

export interface LogsPage {
  readonly logs: readonly LogEntry[];
  readonly nextCursor: string | null;
}

/** What a host has of an agent. */
export interface ObservedAgent extends AgentEpoch {
  readonly state: 'starting' | 'running' | 'frozen';
}

export interface ReplaceEnv extends AgentEpoch {
  readonly env: { readonly [key: string]: string };
  readonly secretKeys: readonly string[];
}

/**
 * What one runtime host answers. Error codes all carry: not_found `agent_not_on_host`; conflict `stale_epoch`
 * (context `epoch`, `state`: nothing was done); unavailable `guest_unreachable`.
 */
export const runtimeRequests = {
  /** Asked of every host at once (no queue group): each answers for itself. */
  hosts: defineRequest<Record<string, never>, HostView>('qry.runtime.hosts.v1', 1_000),
  /** Asked of one host: whether it is there. */
  describe: defineRequest<Record<string, never>, HostView>('qry.runtime.describe.v1.{host}', 1_000),
  /** Creates what is missing and starts it; answers once the guest and the agent's program serve. The same epoch joins. Errors: upstream `agent_start_failed`. */
  start: defineRequest<StartAgent, StartedAgent>('cmd.runtime.start.v1.{host}', 65_000, {
    whenLost: 'repeat',
  }),
  /** Wakes a frozen agent under a new, higher epoch. Errors: conflict `agent_not_frozen`. */
  thaw: defineRequest<AgentEpoch, StartedAgent>('cmd.runtime.thaw.v1.{host}', 10_000, { whenLost: 'repeat' }),
  /** Freezes once what is in flight has been answered, after 20 s in any case. Already frozen at that epoch: fine. */
  freeze: defineRequest<AgentEpoch, Record<string, never>>('cmd.runtime.freeze.v1.{host}', 30_000, {
    whenLost: 'repeat',
  }),
  /** Ends the agent's processes (TERM, 10 s, KILL); volume stays. Nothing running: fine. An epoch above the host's own is fine too. */
  stop: defineRequest<AgentEpoch, Record<string, never>>('cmd.runtime.stop.v1.{host}', 25_000, {
    whenLost: 'repeat',
  }),
  /** Ends it and removes container, volume, logs. Unknown: fine. */
  remove: defineRequest<{ readonly agentId: string }, Record<string, never>>(
    'cmd.runtime.remove.v1.{host}',
    25_000,
    { whenLost: 'repeat' },
  ),
  /** Restarts the agent's program with another environment. */
  replaceEnv: defineRequest<ReplaceEnv, Record<string, never>>('cmd.runtime.replace-env.v1.{host}', 65_000),
  /** Hands a message to the agent's program and waits for its answer. Errors: upstream `agent_error`, timeout `agent_timeout`, unavailable `agent_unavailable`, unsupported `chat_unsupported`. */
  deliver: defineRequest<DeliverMessage, DeliveredMessage>('cmd.runtime.deliver.v1.{host}', 610_000, {
    whenLost: 'repeat',
    onlyWhileAwaited: true,
  }),
  /** What the guest knows of a message, or its journal when the guest is gone. Never wakes, is no activity. */
  findDelivery: defineRequest<FindDelivery, FoundDelivery>('qry.runtime.find-delivery.v1.{host}', 4_000),
  /**
   * Runs a command; a running one keeps the agent awake. Errors that say it was not started: those of all codes above but
   * `guest_unreachable`; invalid `invalid_cwd`, `invalid_command`; unavailable `guest_command_unavailable`. Whether it was
   * started is not known: unavailable `execution_outcome_unknown`, and what the transport says. Callers give a deadline of
   * their own.
   */
  execute: defineRequest<ExecuteCommand, ExecutionOutcome>('cmd.runtime.execute.v1.{host}', 70_000, {
    whenLost: 'report',
    onlyWhileAwaited: true,
  }),
  /** As `execute`, on an older guest: nothing can be found out later. */
  executeLegacy: defineRequest<ExecuteLegacyCommand, LegacyOutcome>(
    'cmd.runtime.execute-legacy.v1.{host}',
    150_000,
    { onlyWhileAwaited: true },
  ),
  /** What the guest knows, or its journal when the guest is gone. Never wakes, is no activity. */
  findExecution: defineRequest<FindExecution, FoundExecution>('qry.runtime.find-execution.v1.{host}', 25_000),
  /** TERM, KILL after 2 s; answers the terminal outcome, whichever came first. Errors: not_found `execution_unknown`. */
  cancelExecution: defineRequest<
    { readonly agentId: string; readonly executionId: string },
    ExecutionOutcome
  >('cmd.runtime.cancel-execution.v1.{host}', 10_000, { whenLost: 'repeat' }),
  /** A ticket for one transfer; from now on it counts as in flight, for 10 s or until it is over. Errors: unavailable `guest_unreachable`. */
  openTransfer: defineRequest<OpenTransfer, TransferTicket>('cmd.runtime.open-transfer.v1.{host}', 10_000, {
    whenLost: 'repeat',
  }),
  /** Changes the volume. Errors: see `FileCommand`. */
  changeFile: defineRequest<ChangeFile, FileChange>('cmd.runtime.change-file.v1.{host}', 30_000, {
    onlyWhileAwaited: true,
  }),
  /** Never wakes, is no activity; works for failed and sleeping agents. Callers that wait give a longer deadline. */
  logs: defineRequest<ReadLogs, LogsPage>('qry.runtime.logs.v1.{host}', 6_000),
};

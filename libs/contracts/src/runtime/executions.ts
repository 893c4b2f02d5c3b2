import type { AgentEpoch } from './agent-epoch.js';

/**
 * Runs a command in an awake agent. The id makes it idempotent: a repeated request joins the running execution or
 * returns its result.
 */
export interface ExecuteCommand extends AgentEpoch {
  /** `exe_…` */
  readonly executionId: string;
  /** Shell command, up to 1 MiB. */
  readonly command: string;
  readonly cwd: string | null;
  readonly env: { readonly [name: string]: string };
  /** Positive and finite; may exceed the maximum delay of a single timer. */
  readonly timeoutMs: number;
  /** Whether to respond only at the end; otherwise the host responds once the command has started. */
  readonly wait: boolean;
}

export type ExecutionStatus = 'running' | 'completed' | 'timed_out' | 'cancelled' | 'failed';

/** An execution as its host knows it. `exitCode`, `stdout`, `stderr` and `endedAt` are null while it runs. */
export interface ExecutionOutcome {
  readonly status: ExecutionStatus;
  readonly exitCode: number | null;
  readonly stdout: string | null;
  readonly stderr: string | null;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly endedAt: string | null;
}

export interface FindExecution {
  readonly agentId: string;
  readonly executionId: string;
  /** Maximum time to wait for the end before responding; at most 20,000. */
  readonly waitMs: number;
}

/**
 * `absent`: the agent's journal has no such execution, so it never started here. It can still start only if it was sent
 * with `epoch`, the agent's current one, and `awake` is true.
 */
export type FoundExecution =
  | { readonly state: 'known'; readonly outcome: ExecutionOutcome }
  | { readonly state: 'absent'; readonly epoch: number; readonly awake: boolean };

export interface PrecludeExecution {
  readonly agentId: string;
  /** The agent's current epoch. */
  readonly epoch: number;
  readonly executionId: string;
}

export interface PrecludedExecution {
  /** Whether the command has started or is about to start; if so, it is not precluded. */
  readonly started: boolean;
}

/** For older guests: attached only, no id. `timeoutMs` is at most 120,000. */
export interface ExecuteLegacyCommand extends AgentEpoch {
  readonly command: string;
  readonly cwd: string | null;
  readonly env: { readonly [name: string]: string };
  readonly timeoutMs: number;
}

export interface LegacyOutcome {
  readonly exitCode: number;
  /** Both streams combined. */
  readonly output: string;
}

import type { AgentEpoch } from './agent-epoch.js';

/** A command for an awake agent. The id makes it act once: sent again it joins the first, or gets its result. */
export interface ExecuteCommand extends AgentEpoch {
  /** `exe_…` */
  readonly executionId: string;
  /** Text for a shell, up to 1 MiB. */
  readonly command: string;
  readonly cwd: string | null;
  readonly env: { readonly [name: string]: string };
  /** Positive and finite; may be beyond what one timer holds. */
  readonly timeoutMs: number;
  /** Whether the answer waits for the end; otherwise it comes as soon as the command has been started. */
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
  /** How long the answer may wait for the end; at most 20,000. */
  readonly waitMs: number;
}

/**
 * `absent`: the agent's journal does not have it, so it never started here; it can start still only if it was sent with
 * `epoch`, the agent's present one, and `awake`.
 */
export type FoundExecution =
  | { readonly state: 'known'; readonly outcome: ExecutionOutcome }
  | { readonly state: 'absent'; readonly epoch: number; readonly awake: boolean };

/** The older guests' way: attached only, no id. `timeoutMs` at most 120,000. */
export interface ExecuteLegacyCommand extends AgentEpoch {
  readonly command: string;
  readonly cwd: string | null;
  readonly env: { readonly [name: string]: string };
  readonly timeoutMs: number;
}

export interface LegacyOutcome {
  readonly exitCode: number;
  /** Both streams in one. */
  readonly output: string;
}

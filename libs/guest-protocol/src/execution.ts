/** How an execution stands (contract §4). */
export const EXECUTION_STATUSES = ['running', 'completed', 'timed_out', 'cancelled', 'failed'] as const;
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number];

/** Body of `execute`. The id makes it act once: an id the guest knows joins the first, or gets its result. */
export interface RunCommand {
  /** `exe_…` */
  readonly executionId: string;
  /** Text for a shell, up to 1 MiB, without NUL. */
  readonly command: string;
  /** Absolute, or relative to the volume; null is the volume. */
  readonly cwd: string | null;
  /** Beside the environment of the agent's program. */
  readonly env: Readonly<Record<string, string>>;
  /** Positive and finite; may be beyond what one timer holds. */
  readonly timeoutMs: number;
  /** How long the answer is held back for the end; 0 answers as soon as the command has been started. */
  readonly waitMs: number;
}

/** An execution as the guest knows it. `stdout` and `stderr` as they are shown (contract §4), null while it runs. */
export interface ExecutionReport {
  readonly executionId: string;
  readonly status: ExecutionStatus;
  /** null while it runs; -1 for everything but `completed`. */
  readonly exitCode: number | null;
  readonly stdout: string | null;
  readonly stderr: string | null;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly endedAt: string | null;
}

/** Body of the older guests' `executeLegacy`: no id, no journal. `timeoutMs` at most 120,000. */
export interface RunLegacyCommand {
  readonly command: string;
  readonly cwd: string | null;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** Both streams in one, in the order they came. */
export interface LegacyReport {
  readonly exitCode: number;
  readonly output: string;
}

/** One line of a followed output: NDJSON. `end` is the last one when the execution is over. */
export type OutputLine =
  { readonly stream: 'stdout' | 'stderr'; readonly text: string } | { readonly stream: 'end' };

/** Each stream keeps its last so many characters, Unicode code points (interface §2, contract §4). */
export const KEPT_CHARACTERS = 262_144;
/** How a stream that was cut begins (interface §2). */
export const CUT_MARK = '[output truncated]\n';

/** Where a guest keeps what it knows of executions, inside its journal folder; the host reads it when the guest is gone. */
export const EXECUTIONS_FOLDER = 'executions';
/** One file for each: a record as JSON, replaced whole. */
export const executionFileName = (executionId: string): string => `${executionId}.json`;

/**
 * What stands in such a file. It is written before the command is started, so that a command without a file never was.
 * While it runs `stdout` and `stderr` are what had come a moment ago.
 */
export interface ExecutionRecord extends ExecutionReport {
  readonly stdout: string;
  readonly stderr: string;
}

/** One record as text. */
export const encodeExecution = (record: ExecutionRecord): string => JSON.stringify(record);

/** Reads a record back; undefined for what is torn or not ours. */
export const decodeExecution = (text: string): ExecutionRecord | undefined => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isRecord(value) ? value : undefined;
};

const isRecord = (value: unknown): value is ExecutionRecord => {
  if (typeof value !== 'object' || value === null) return false;
  const { executionId, status, exitCode, stdout, stderr, startedAt, endedAt } = value as Record<
    string,
    unknown
  >;
  return (
    [executionId, stdout, stderr, startedAt].every((text) => typeof text === 'string') &&
    EXECUTION_STATUSES.some((known) => known === status) &&
    (exitCode === null || Number.isSafeInteger(exitCode)) &&
    (endedAt === null || typeof endedAt === 'string')
  );
};

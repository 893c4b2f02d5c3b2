/** Status of an execution. */
export const EXECUTION_STATUSES = ['running', 'completed', 'timed_out', 'cancelled', 'failed'] as const;
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number];

/** Body of `execute`. The id makes it idempotent: a known id joins the running execution or returns its result. */
export interface RunCommand {
  /** `exe_…` */
  readonly executionId: string;
  /** Shell command, up to 1 MiB, without NUL. */
  readonly command: string;
  /** Absolute, or relative to the volume; null means the volume. */
  readonly cwd: string | null;
  /** Added to the environment of the agent's program. */
  readonly env: Readonly<Record<string, string>>;
  /** Positive and finite; may exceed the maximum delay of a single timer. */
  readonly timeoutMs: number;
  /** Maximum time to wait for the end before the guest responds; 0 responds once the command has started. */
  readonly waitMs: number;
}

/**
 * An execution as the guest knows it. `stdout` and `stderr` are the last `KEPT_CHARACTERS` characters; null while it
 * runs.
 */
export interface ExecutionReport {
  readonly executionId: string;
  readonly status: ExecutionStatus;
  /** null while it runs; -1 for every final status except `completed`. */
  readonly exitCode: number | null;
  readonly stdout: string | null;
  readonly stderr: string | null;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly endedAt: string | null;
}

/** Response of `precludeExecution`. */
export interface PrecludedExecution {
  /** Whether the command has started or is about to start; if so, it is not precluded. */
  readonly started: boolean;
}

/** Body of `executeLegacy` for older guests: no id, no journal. `timeoutMs` is at most 120,000. */
export interface RunLegacyCommand {
  readonly command: string;
  readonly cwd: string | null;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** Both streams combined, in order of arrival. */
export interface LegacyReport {
  readonly exitCode: number;
  readonly output: string;
}

/** One NDJSON line of followed output. `end` is the last line, sent when the execution has ended. */
export type OutputLine =
  | { readonly stream: 'stdout' | 'stderr'; readonly text: string }
  | { readonly stream: 'end' };

/** Number of trailing characters (Unicode code points) kept per stream. */
export const KEPT_CHARACTERS = 262_144;
/** Prefix of a truncated stream. */
export const CUT_MARK = '[output truncated]\n';

/** Folder of execution records inside the guest's journal folder. The host reads it when the guest is gone. */
export const EXECUTIONS_FOLDER = 'executions';
/** One JSON file per execution, always replaced as a whole. */
export const executionFileName = (executionId: string): string => `${executionId}.json`;

/**
 * Content of such a file. The guest writes it before it starts the command, so a command without a file never started.
 * While the command runs, `stdout` and `stderr` lag slightly behind.
 */
export interface ExecutionRecord extends ExecutionReport {
  readonly stdout: string;
  readonly stderr: string;
  /** Present if the execution was precluded. */
  readonly neverStarted?: true;
}

/** Serializes one record. */
export const encodeExecution = (record: ExecutionRecord): string => JSON.stringify(record);

/** Parses one record; undefined if the text is torn or malformed. */
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

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
const SOURCES = ['agent', 'system', 'build'] as const;

/** One line of an agent's log: a JSON object; `timestamp` is ISO 8601. */
export interface LogLine {
  readonly timestamp: string;
  readonly level: (typeof LEVELS)[number];
  readonly source: (typeof SOURCES)[number];
  readonly message: string;
}

/** Maximum number of log files per agent, including the current one. */
const LOG_FILES = 3;
/** Size at which the log rotates to the next file. */
export const LOG_FILE_BYTES = 10 * 1024 * 1024;

/** File numbers increase and files are never renamed, so that a position in the log stays valid. */
export const logFileName = (number: number): string => `${String(number).padStart(8, '0')}.log`;

/** The number of a log file; undefined for any other file. */
export const logFileNumber = (name: string): number | undefined => {
  const digits = /^(\d{8})\.log$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
};

/** The highest log file number among the names in a folder; 1 if there is no log file yet. */
export const newestLogFile = (names: readonly string[]): number =>
  Math.max(1, ...names.map((name) => logFileNumber(name) ?? 1));

/** Those of the names in a folder that are log files which rotation to the file `newest` deletes. */
export const outdatedLogFiles = (names: readonly string[], newest: number): readonly string[] =>
  names.filter((name) => (logFileNumber(name) ?? newest) <= newest - LOG_FILES);

/** Serializes one line, with a trailing newline. */
export const encodeLogLine = (line: LogLine): string => `${JSON.stringify(line)}\n`;

/** Parses one line; undefined if it is torn or malformed. */
export const decodeLogLine = (text: string): LogLine | undefined => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isLogLine(value) ? value : undefined;
};

const isLogLine = (value: unknown): value is LogLine => {
  if (typeof value !== 'object' || value === null) return false;
  const { timestamp, level, source, message } = value as Record<string, unknown>;
  return (
    typeof timestamp === 'string' &&
    typeof message === 'string' &&
    LEVELS.some((known) => known === level) &&
    SOURCES.some((known) => known === source)
  );
};

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
const SOURCES = ['agent', 'system', 'build'] as const;

/** One line of an agent's log: JSON, one object per line, `timestamp` in ISO 8601. */
export interface LogLine {
  readonly timestamp: string;
  readonly level: (typeof LEVELS)[number];
  readonly source: (typeof SOURCES)[number];
  readonly message: string;
}

/** How many files an agent's log has at most, the one being written included (contract §3). */
export const LOG_FILES = 3;
/** A file of this size is followed by the next (contract §3). */
export const LOG_FILE_BYTES = 10 * 1024 * 1024;

/** Files are numbered upwards and never renamed, so that a place in the log stays what it is. */
export const logFileName = (number: number): string => `${String(number).padStart(8, '0')}.log`;

/** The number of a log file, undefined for any other file. */
export const logFileNumber = (name: string): number | undefined => {
  const digits = /^(\d{8})\.log$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
};

/** The number of the newest log file among the names in a folder, 1 where there is none yet. */
export const newestLogFile = (names: readonly string[]): number =>
  Math.max(1, ...names.map((name) => logFileNumber(name) ?? 1));

/** One line with its newline at the end. */
export const encodeLogLine = (line: LogLine): string => `${JSON.stringify(line)}\n`;

/** Reads one line back; undefined for a line that is torn or not ours. */
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

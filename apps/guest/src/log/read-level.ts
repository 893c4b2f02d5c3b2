import type { LogLine } from '@berth/guest-protocol';

type Level = LogLine['level'];

const NAMES: Readonly<Record<string, Level>> = {
  trace: 'debug',
  debug: 'debug',
  verbose: 'debug',
  info: 'info',
  log: 'info',
  notice: 'info',
  warn: 'warn',
  warning: 'warn',
  error: 'error',
  err: 'error',
  critical: 'error',
  fatal: 'error',
};

/**
 * Level and text of a line that an agent's program printed. A JSON object with `level` (a name, or a number as pino
 * writes it) and `msg` or `message` defines both. Any other line is info on stdout; on stderr it is error unless it
 * begins with a word for a lower level.
 */
export const readLevel = (line: string, stream: 'stdout' | 'stderr'): { level: Level; message: string } => {
  const fallback: Level = stream === 'stderr' ? (lowerLevelOf(line) ?? 'error') : 'info';
  const fields = line.startsWith('{') ? parseObject(line) : undefined;
  if (fields === undefined) return { level: fallback, message: line };
  const { level, msg, message } = fields;
  const text = [message, msg].find((candidate) => typeof candidate === 'string');
  return { level: levelOf(level) ?? fallback, message: text ?? line };
};

const lowerLevelOf = (line: string): Level | undefined => {
  const word = /^\W*(?:\(node:\d+\) )?(\w*warn(?:ing)?|info|debug)\b/i.exec(line)?.[1]?.toLowerCase();
  if (word === undefined) return undefined;
  return NAMES[word] ?? 'warn';
};

const levelOf = (level: unknown): Level | undefined => {
  if (typeof level === 'string') return NAMES[level.toLowerCase()];
  if (typeof level !== 'number') return undefined;
  if (level < 30) return 'debug';
  if (level < 40) return 'info';
  return level < 50 ? 'warn' : 'error';
};

const parseObject = (line: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value = JSON.parse(line) as unknown;
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
};

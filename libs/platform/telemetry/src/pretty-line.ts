const LEVELS: Readonly<Record<number, string>> = {
  10: 'TRACE',
  20: 'DEBUG',
  30: 'INFO ',
  40: 'WARN ',
  50: 'ERROR',
  60: 'FATAL',
};
const HIDDEN = new Set(['level', 'time', 'pid', 'service', 'msg', 'err', 'traceId']);

/**
 * Formats one JSON log line for people: `07:12:03.120 INFO  agents  message  name=value`, followed by an error's stack.
 */
export const prettyLine = (json: string): string => {
  let line: Record<string, unknown>;
  try {
    line = JSON.parse(json) as Record<string, unknown>;
  } catch {
    return json;
  }
  const time = typeof line['time'] === 'number' ? new Date(line['time']).toISOString().slice(11, 23) : '';
  const level = LEVELS[Number(line['level'])] ?? '     ';
  const rest = Object.entries(line)
    .filter(([name]) => !HIDDEN.has(name))
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const parts = [time, level, text(line['service']), text(line['msg']), ...rest];
  return `${parts.filter((part) => part !== '').join('  ')}${errorLines(line['err'])}\n`;
};

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const errorLines = (error: unknown): string => {
  if (typeof error !== 'object' || error === null) return '';
  const shown = 'stack' in error ? text(error.stack) : '';
  const message = 'message' in error ? text(error.message) : '';
  return `\n  ${(shown === '' ? message : shown).replaceAll('\n', '\n  ')}`;
};

import { createLogger, type Logger } from '@berth/telemetry';

/** A logger that keeps its lines. */
export const keepingLogger = (): { log: Logger; lines: string[] } => {
  const lines: string[] = [];
  return {
    lines,
    log: createLogger({
      service: 'test',
      level: 'debug',
      destination: { write: (line) => lines.push(line) },
    }),
  };
};

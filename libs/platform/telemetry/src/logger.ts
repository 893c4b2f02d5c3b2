import { trace } from '@opentelemetry/api';
import {
  destination as openDestination,
  pino,
  type DestinationStream,
  type Logger as PinoLogger,
} from 'pino';
import { prettyLine } from './pretty-line.js';
import { redact, redactLine } from './redaction.js';
import { requestContext } from './request-context.js';

/* oxlint-disable typescript/no-unsafe-declaration-merging -- only createLogger makes instances, and they have all members */

/** Structured logger: `log.info({agentId}, 'Agent started.')`. */
export interface Logger extends PinoLogger {}

/** The token by which providers inject the logger of their service. */
export abstract class Logger {}

/* oxlint-enable typescript/no-unsafe-declaration-merging */

export interface LoggerOptions {
  /** Part of every line. */
  readonly service: string;
  /** pino's level; default `info`. */
  readonly level?: string;
  /** Writes one human-readable line instead of JSON. */
  readonly pretty?: boolean;
  /** Where lines go; default standard output. */
  readonly destination?: DestinationStream;
}

/**
 * Creates a logger that writes JSON lines, each with the request id and trace id of the current request. Members with
 * names of secrets, `?token=` in any text, bearer tokens and Berth's own tokens never reach the output.
 */
export const createLogger = (options: LoggerOptions): Logger => {
  const target = options.destination ?? openDestination({ fd: 1, sync: true });
  const stream =
    options.pretty === true ? { write: (line: string) => target.write(prettyLine(line)) } : target;
  return pino(
    {
      level: options.level ?? 'info',
      base: { service: options.service, pid: process.pid },
      mixin: currentIds,
      formatters: { log: redactRecord },
      serializers: { err: (value: unknown) => value, error: (value: unknown) => value },
      hooks: { streamWrite: redactLine },
    },
    stream,
  );
};

const redactRecord = (record: object): Record<string, unknown> => redact(record) as Record<string, unknown>;

const currentIds = (): Record<string, string> => {
  const requestId = requestContext.current()?.requestId;
  const traceId = trace.getActiveSpan()?.spanContext().traceId;
  return { ...(requestId === undefined ? {} : { requestId }), ...(traceId === undefined ? {} : { traceId }) };
};

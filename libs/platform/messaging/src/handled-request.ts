import { DomainError, isDomainError } from '@berth/kernel';
import { metrics, withSpan, type Logger, type TraceCarrier } from '@berth/telemetry';
import type { MessageHandler } from '@nestjs/microservices';
import { isObservable, lastValueFrom } from 'rxjs';
import { INTERNAL_ERROR, toEnvelope, type ReplyPacket } from './request-wire.js';

const HEADROOM_BYTES = 1_024;

const duration = metrics.histogram(
  'berth_handler_seconds',
  'Duration of handled requests, by subject and outcome.',
  { unit: 's', buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 1, 5, 30, 120, 600] },
  ['subject', 'outcome'],
);

export const FORGED = toEnvelope(
  new DomainError('invalid', 'invalid_request', 'A host reports only about itself.'),
);

export interface HandledRequest {
  /** The subject as the contract declares it. */
  readonly template: string;
  readonly handler: MessageHandler;
  readonly data: unknown;
  /** How the request arrived, for its span. */
  readonly system: 'nats' | 'process';
  /** The sender's span; default: the active one. */
  readonly parent?: TraceCarrier;
  readonly log: Logger;
}

/** Runs the handler of a request in a span of its own; returns the reply's packet, without its id. */
export const handleRequest = async (request: HandledRequest): Promise<ReplyPacket> => {
  const { template, handler, data, system, parent, log } = request;
  const startedAt = performance.now();
  let outcome = 'ok';
  try {
    const attributes = { 'messaging.system': system, 'messaging.destination.template': template };
    const response = await withSpan(
      `handle ${template}`,
      { kind: 'server', attributes, ...(parent === undefined ? {} : { parent }) },
      () => invoke(handler, data),
    );
    return { response, isDisposed: true };
  } catch (error) {
    outcome = isDomainError(error) ? error.kind : 'internal';
    if (outcome === 'internal') log.error({ err: error, subject: template }, 'A handler failed.');
    return { err: toEnvelope(error), isDisposed: true };
  } finally {
    duration.observe((performance.now() - startedAt) / 1_000, { subject: template, outcome });
  }
};

/**
 * The packet as JSON. One that cannot be encoded, or is larger than a packet may be, becomes an internal error, so that
 * the caller does not wait for nothing.
 */
export const encodeReply = (
  packet: ReplyPacket,
  { subject, maxBytes, log }: { readonly subject: string; readonly maxBytes: number; readonly log: Logger },
): string => {
  try {
    const text = JSON.stringify(packet);
    const bytes = Buffer.byteLength(text);
    if (bytes + HEADROOM_BYTES <= maxBytes) return text;
    log.error({ subject, bytes, maxBytes }, 'A reply is larger than the broker accepts.');
  } catch (error) {
    log.error({ err: error, subject }, 'A reply is not valid JSON.');
  }
  const { id } = packet;
  return JSON.stringify({ ...(id === undefined ? {} : { id }), err: INTERNAL_ERROR, isDisposed: true });
};

export const commandIdOf = (data: unknown): string | undefined =>
  typeof data === 'object' && data !== null && 'commandId' in data && typeof data.commandId === 'string'
    ? data.commandId
    : undefined;

const invoke = async (handler: MessageHandler, data: unknown): Promise<unknown> => {
  const result: unknown = await handler(data);
  return isObservable(result) ? lastValueFrom(result, { defaultValue: undefined }) : result;
};

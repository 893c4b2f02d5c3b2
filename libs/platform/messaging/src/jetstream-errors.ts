import { JetStreamApiError } from '@nats-io/jetstream';

/** Whether JetStream returned one of these error codes. */
export const isApiError = (error: unknown, ...codes: number[]): boolean =>
  error instanceof JetStreamApiError && codes.includes(error.code);

/**
 * Whether nothing receives messages under the subject: there is no such stream, or no JetStream. The client does not
 * export the class of this error.
 */
export const isWithoutStream = (error: unknown): boolean =>
  error instanceof Error && error.name === 'JetStreamNotEnabled';

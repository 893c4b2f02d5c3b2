import { JetStreamApiError } from '@nats-io/jetstream';

/** Whether JetStream returned one of these error codes. */
export const isApiError = (error: unknown, ...codes: number[]): boolean =>
  error instanceof JetStreamApiError && codes.includes(error.code);

/**
 * Whether a publish failed because no stream stores its subject, or the server has no JetStream. Compares names, because
 * the client does not export the class of this error.
 */
export const isNoStreamError = (error: unknown): boolean =>
  error instanceof Error && error.name === 'JetStreamNotEnabled';

import { JetStreamApiError } from '@nats-io/jetstream';

/** Whether JetStream returned one of these error codes. */
export const isApiError = (error: unknown, ...codes: number[]): boolean =>
  error instanceof JetStreamApiError && codes.includes(error.code);

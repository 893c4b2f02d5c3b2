import { JetStreamApiError } from '@nats-io/jetstream';

/** Whether JetStream answered with one of these error codes. */
export const isApiError = (error: unknown, ...codes: number[]): boolean =>
  error instanceof JetStreamApiError && codes.includes(error.code);

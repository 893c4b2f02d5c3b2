import type { NatsConnection } from '@nats-io/transport-node';
import { BARE_SUBJECT, ECHO_REQUEST } from './echo.request.js';

/** One request and its reply with the NATS client alone. */
export const bareRequest = (connection: NatsConnection): (() => Promise<unknown>) => {
  const bytes = Buffer.from(JSON.stringify(ECHO_REQUEST));
  return () => connection.request(BARE_SUBJECT, bytes, { timeout: 10_000 });
};

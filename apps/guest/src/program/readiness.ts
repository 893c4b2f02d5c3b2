import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** The address of the agent's program. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** A program that listens on `localhost` may use either. */
const LOOPBACK = ['127.0.0.1', '::1'] as const;
const FIRST_PAUSE_MS = 5;
const MAX_PAUSE_MS = 200;
/** Most programs are ready by then; slower ones are polled with growing pauses. */
const EAGER_MS = 500;
const RESPONSE_WITHIN_MS = 5_000;

/** Resolves with the endpoint once the program responds to HTTP on its port; 503 means "not yet". */
export const waitUntilServing = async (port: number, signal: AbortSignal): Promise<Endpoint> => {
  const eagerUntil = Date.now() + EAGER_MS;
  for (let pauseMs = FIRST_PAUSE_MS; ;) {
    for (const host of LOOPBACK) {
      if (await responds({ host, port }, signal)) return { host, port };
    }
    signal.throwIfAborted();
    await delay(pauseMs, undefined, { signal });
    if (Date.now() > eagerUntil) pauseMs = Math.min(pauseMs * 1.5, MAX_PAUSE_MS);
  }
};

const responds = (endpoint: Endpoint, signal: AbortSignal): Promise<boolean> => {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const probe = request({
    ...endpoint,
    path: '/health',
    agent: false,
    signal: AbortSignal.any([signal, AbortSignal.timeout(RESPONSE_WITHIN_MS)]),
  });
  probe.on('response', (response) => {
    resolve(response.statusCode !== 503);
    probe.destroy();
  });
  probe.on('error', () => resolve(false));
  probe.end();
  return promise;
};

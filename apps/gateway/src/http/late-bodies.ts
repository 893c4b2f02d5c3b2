import type { IncomingMessage } from 'node:http';
import { discardBody, hasBody, type UnwantedBounds } from '@berth/sockets';
import { isStreamed, type ApiRequest, type HttpServer } from './fastify-types.js';
import { rejectTimedOut } from './raw-responses.js';

/** How long bodies may take. */
export interface BodyBounds {
  /** Time for headers and body of an ordinary request, so that a slow client cannot hold a socket for longer. */
  readonly bodyMs: number;
  /** How much of a body is still received that no handler reads. */
  readonly unwanted?: UnwantedBounds;
}

/**
 * Limits the time of bodies to `bodyMs`. Routes that stream their body set their own limits, because an upload may take
 * long. A body that no handler reads, because the response is already decided, is received for a limited time.
 */
export const addBodyDeadlines = (server: HttpServer, { bodyMs, unwanted }: BodyBounds): void => {
  server.addHook('preParsing', (request, reply, _payload, done) => {
    if (isUnread(request) && !isStreamed(request.routeOptions.config.rules)) {
      cutWhenLate(request, bodyMs - reply.elapsedTime);
    }
    done();
  });
  server.addHook('onSend', (request, _reply, _payload, done) => {
    if (isUnread(request)) discardBody(request.raw, unwanted);
    done();
  });
};

const isUnread = ({ raw }: ApiRequest): boolean => !raw.complete && hasBody(raw);

const late = new WeakSet<IncomingMessage>();

/** Whether the request was cut because its body did not arrive in time. */
export const wasLate = (request: IncomingMessage): boolean => late.has(request);

const cutWhenLate = (request: ApiRequest, millis: number): void => {
  const { raw } = request;
  const timer = setTimeout(() => {
    late.add(raw);
    rejectTimedOut(raw.socket, request.id);
  }, millis);
  const over = (): void => clearTimeout(timer);
  raw.once('end', over);
  raw.once('close', over);
};

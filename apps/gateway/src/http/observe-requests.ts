import { metrics, type Logger } from '@berth/telemetry';
import type { HttpServer } from './fastify-types.js';
import { loggedPathOf } from './request-path.js';
import { routeNameOf } from './route-name.js';

const duration = metrics.histogram(
  'berth_http_request_duration_seconds',
  'How long HTTP requests took until the response was sent.',
  { unit: 's', buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 600] },
  ['method', 'route', 'status'],
);

const SERVER_FAULT = 500;

/** One log line and one metric observation per response. The query is never logged. */
export const addObservationHooks = (server: HttpServer, log: Logger): void => {
  const logsRequests = log.isLevelEnabled('info');
  server.addHook('onResponse', (request, reply, done) => {
    const status = reply.statusCode;
    const route = routeNameOf(request);
    duration.observe(reply.elapsedTime / 1000, { method: request.method, route, status });
    if (logsRequests) {
      const line = {
        method: request.method,
        path: request.appLabel === undefined ? loggedPathOf(request) : route,
        status,
        ms: Math.round(reply.elapsedTime),
      };
      if (status >= SERVER_FAULT) log.warn(line, 'request failed');
      else log.info(line, 'request');
    }
    done();
  });
};

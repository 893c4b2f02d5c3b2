import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { guardServer } from '@berth/sockets';
import type { Meter } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader, type IMetricReader } from '@opentelemetry/sdk-metrics';
import { addProcessMetrics } from './process-metrics.js';

export interface MetricExport {
  readonly meter: Meter;
  readonly port: number | undefined;
  /** What `GET /ready` on the port returns: 200 or 503, which it is at first. */
  setReady(ready: boolean): void;
  stop(): Promise<void>;
}

/** Scrapers are few, but any process on this machine can reach the port. */
const BOUNDS = { most: 32, idleMs: 75_000, stalledMs: 10_000 };
const TIMEOUTS = {
  headersTimeout: 10_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 2_000,
};

/** Serves metrics and `GET /ready` on 127.0.0.1, and sends them to the collector every 15 s; each only if configured. */
export const startMetricExport = async (options: {
  readonly service: string;
  readonly otlpEndpoint?: string | undefined;
  readonly metricsPort?: number | undefined;
}): Promise<MetricExport> => {
  const readers: IMetricReader[] = [];
  const prometheus =
    options.metricsPort === undefined
      ? undefined
      : new PrometheusExporter({ preventServerStart: true, withoutScopeInfo: true, withoutTargetInfo: true });
  if (prometheus !== undefined) readers.push(prometheus);
  if (options.otlpEndpoint !== undefined) readers.push(otlpReader(options.otlpEndpoint));
  const state = { ready: false };
  const server =
    prometheus === undefined ? undefined : await listen(prometheus, state, options.metricsPort ?? 0);
  const provider = new MeterProvider({
    resource: resourceFromAttributes({ 'service.name': options.service }),
    readers,
  });
  const meter = provider.getMeter('berth');
  const stopProcessMetrics = addProcessMetrics(meter);
  const address = server?.address();
  return {
    meter,
    port: typeof address === 'object' && address !== null ? address.port : undefined,
    setReady: (ready) => {
      state.ready = ready;
    },
    stop: async () => {
      stopProcessMetrics();
      server?.closeAllConnections();
      server?.close();
      await provider.shutdown();
    },
  };
};

const otlpReader = (endpoint: string): IMetricReader =>
  new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter({
      url: `${endpoint.replace(/\/+$/, '')}/v1/metrics`,
      timeoutMillis: 3_000,
    }),
    exportIntervalMillis: 15_000,
    exportTimeoutMillis: 5_000,
  });

const listen = async (
  exporter: PrometheusExporter,
  state: { readonly ready: boolean },
  port: number,
): Promise<Server> => {
  const server = createServer(TIMEOUTS, (request, response) => {
    const path = request.method === 'GET' ? request.url?.split('?', 1)[0] : undefined;
    if (path === '/metrics') return exporter.getMetricsRequestHandler(request, response);
    response.writeHead(path !== '/ready' ? 404 : state.ready ? 200 : 503).end();
  });
  guardServer(server, BOUNDS);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  return server;
};

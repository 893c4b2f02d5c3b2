import { setTracing } from './tracing.js';
import { useMeter } from './metrics.js';

export interface TelemetryOptions {
  readonly service: string;
  /** Base URL of an OTLP/HTTP collector (`http://collector:4318`) for traces and metrics. Off when unset. */
  readonly otlpEndpoint?: string | undefined;
  /** Port on 127.0.0.1 that serves `GET /metrics` in the Prometheus text format; 0 picks a free one. Off when unset. */
  readonly metricsPort?: number | undefined;
}

export interface Telemetry {
  /** The port that `/metrics` listens on; undefined when it is off. */
  readonly metricsPort: number | undefined;
  /** Whether `GET /ready` on that port returns 200; it returns 503 before the first call. */
  setReady(ready: boolean): void;
  /** Sends what is still queued (at most 3 s) and closes the port. */
  stop(): Promise<void>;
}

/**
 * Switches on what is configured, once per process. Loads the OpenTelemetry SDK only if needed; otherwise spans and
 * metrics are calls that return immediately.
 */
export const startTelemetry = async (options: TelemetryOptions): Promise<Telemetry> => {
  const stops: (() => Promise<void>)[] = [];
  let metricsPort: number | undefined;
  let setReady = (_ready: boolean): void => undefined;
  if (options.otlpEndpoint !== undefined) {
    const { startTraceExport } = await import('./trace-export.js');
    stops.push(startTraceExport(options.service, options.otlpEndpoint));
    setTracing(true);
    stops.push(() => Promise.resolve(setTracing(false)));
  }
  if (options.otlpEndpoint !== undefined || options.metricsPort !== undefined) {
    const { startMetricExport } = await import('./metric-export.js');
    const exported = await startMetricExport(options);
    metricsPort = exported.port;
    setReady = exported.setReady;
    useMeter(exported.meter);
    stops.push(exported.stop, () => Promise.resolve(useMeter(undefined)));
  }
  return {
    metricsPort,
    setReady,
    stop: async () => {
      const stopping = Promise.allSettled(stops.map((stop) => stop()));
      let timer: NodeJS.Timeout | undefined;
      const enough = new Promise((resolve) => (timer = setTimeout(resolve, 3_000)));
      await Promise.race([stopping, enough]);
      clearTimeout(timer);
    },
  };
};

export { createLogger, Logger, type LoggerOptions } from './logger.js';
export {
  metrics,
  type Collect,
  type Counter,
  type Gauge,
  type Histogram,
  type HistogramOptions,
  type Labels,
  type Observation,
} from './metrics.js';
export { redact, redactText } from './redaction.js';
export { requestContext, type RequestCaller, type RequestContext } from './request-context.js';
export { startTelemetry, type Telemetry, type TelemetryOptions } from './telemetry.js';
export { surviveRejections } from './unhandled-rejections.js';
export { injectTrace, withSpan, type SpanOptions, type TraceCarrier } from './tracing.js';

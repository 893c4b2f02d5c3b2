import {
  context,
  isSpanContextValid,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Link,
  type Span,
} from '@opentelemetry/api';

/** Trace context as W3C Trace Context headers carry it; empty when tracing is off. */
export interface TraceCarrier {
  readonly traceparent?: string;
  readonly tracestate?: string;
}

export interface SpanOptions {
  /** `internal` unless said otherwise. */
  readonly kind?: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  readonly attributes?: Attributes;
  /** The remote span this one continues; the active span otherwise. */
  readonly parent?: TraceCarrier;
  /** Spans that caused this one without being its parent. */
  readonly links?: readonly TraceCarrier[];
}

const KINDS = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};

let tracing = false;

/** Set by `startTelemetry`: while false, spans cost nothing. */
export const setTracing = (on: boolean): void => {
  tracing = on;
};

/** Runs `work` inside a span, which ends with it; a thrown error marks the span. Just `work()` when tracing is off. */
export const withSpan = async <T>(name: string, options: SpanOptions, work: () => Promise<T>): Promise<T> => {
  if (!tracing) return work();
  const parent = options.parent === undefined ? context.active() : extract(options.parent);
  const span = trace.getTracer('berth').startSpan(
    name,
    {
      kind: KINDS[options.kind ?? 'internal'],
      ...(options.attributes === undefined ? {} : { attributes: options.attributes }),
      links: (options.links ?? []).flatMap(toLink),
    },
    parent,
  );
  try {
    return await context.with(trace.setSpan(parent, span), work);
  } catch (error) {
    markFailed(span, error);
    throw error;
  } finally {
    span.end();
  }
};

/** The active span's context, to be carried in headers or event metadata; `{}` when tracing is off. */
export const injectTrace = (): TraceCarrier => {
  if (!tracing) return {};
  const carrier: { traceparent?: string; tracestate?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier;
};

const extract = (carrier: TraceCarrier): Context => propagation.extract(ROOT_CONTEXT, carrier);

const toLink = (carrier: TraceCarrier): Link[] => {
  const spanContext = trace.getSpanContext(extract(carrier));
  return spanContext !== undefined && isSpanContextValid(spanContext) ? [{ context: spanContext }] : [];
};

// Only the code: messages may quote what users sent.
const markFailed = (span: Span, error: unknown): void => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'error';
  span.setStatus({ code: SpanStatusCode.ERROR, message: code });
};

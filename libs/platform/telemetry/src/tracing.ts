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

/** Trace context as in W3C Trace Context headers; empty when tracing is off. */
export interface TraceCarrier {
  readonly traceparent?: string;
  readonly tracestate?: string;
}

export interface SpanOptions {
  /** Default `internal`. */
  readonly kind?: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  readonly attributes?: Attributes;
  /** The remote span that this one continues; default: the active span. */
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

/** Called by `startTelemetry`. While tracing is off, spans cost nothing. */
export const setTracing = (on: boolean): void => {
  tracing = on;
};

/**
 * Runs `work` inside a span that ends with it; a thrown error marks the span as failed. Only runs `work()` when tracing
 * is off.
 */
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

/** The active span's context, for headers or event metadata; `{}` when tracing is off. */
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

// Records only the code: messages may quote user input.
const markFailed = (span: Span, error: unknown): void => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'error';
  span.setStatus({ code: SpanStatusCode.ERROR, message: code });
};

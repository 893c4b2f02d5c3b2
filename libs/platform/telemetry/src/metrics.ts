import type { Attributes, Meter, ObservableResult } from '@opentelemetry/api';

/** Label values of one series, by label name. Keep their number small: never use ids. */
export type Labels = Readonly<Record<string, string | number | boolean>>;

export interface Counter {
  /** Adds `by`, default 1. */
  inc(labels?: Labels, by?: number): void;
}
export interface Histogram {
  observe(value: number, labels?: Labels): void;
}
export interface Gauge {
  set(value: number, labels?: Labels): void;
}
export interface HistogramOptions {
  /** UCUM unit: `s`, `ms`, `By`. */
  readonly unit?: string;
  readonly buckets?: readonly number[];
}
/** One observed value of a gauge that is read on demand. */
export interface Observation {
  readonly value: number;
  readonly labels?: Labels;
}
/** Called on every scrape; must neither throw nor block for long. */
export type Collect = () => number | readonly Observation[] | Promise<number | readonly Observation[]>;

type Instrument = (meter: Meter) => void;

const instruments = new Map<string, Instrument>();
let current: Meter | undefined;

/** Set by `startTelemetry`. Binds instruments created earlier to the meter; without a meter, recording does nothing. */
export const useMeter = (meter: Meter | undefined): void => {
  current = meter;
  if (meter !== undefined) for (const bind of instruments.values()) bind(meter);
};

const register = (name: string, bind: Instrument): void => {
  instruments.set(name, bind);
  if (current !== undefined) bind(current);
};

const known = new Map<string, Counter | Histogram | Gauge>();

const once = <T extends Counter | Histogram | Gauge>(kind: string, name: string, make: () => T): T => {
  const existing = known.get(`${kind} ${name}`);
  if (existing !== undefined) return existing as T;
  const made = make();
  known.set(`${kind} ${name}`, made);
  return made;
};

const attributes = (labels: Labels | undefined, names: readonly string[]): Attributes => {
  const picked: Attributes = {};
  for (const name of names) if (labels?.[name] !== undefined) picked[name] = labels[name];
  return picked;
};

/**
 * The process's only registry. Names follow Prometheus (`berth_requests`; counters get `_total`). Requesting the same
 * name twice returns the same instrument. Labels that were not declared are dropped.
 */
export const metrics = {
  counter: (name: string, help: string, labelNames: readonly string[] = []): Counter =>
    once('counter', name, () => {
      let add: ((by: number, labels: Attributes) => void) | undefined;
      register(name, (meter) => {
        const instrument = meter.createCounter(name, { description: help });
        add = (by, labels) => instrument.add(by, labels);
      });
      return { inc: (labels, by = 1) => add?.(by, attributes(labels, labelNames)) };
    }),

  histogram: (
    name: string,
    help: string,
    options: HistogramOptions = {},
    labelNames: readonly string[] = [],
  ): Histogram =>
    once('histogram', name, () => {
      let record: ((value: number, labels: Attributes) => void) | undefined;
      register(name, (meter) => {
        const instrument = meter.createHistogram(name, {
          description: help,
          ...(options.unit === undefined ? {} : { unit: options.unit }),
          ...(options.buckets === undefined
            ? {}
            : { advice: { explicitBucketBoundaries: [...options.buckets] } }),
        });
        record = (value, labels) => instrument.record(value, labels);
      });
      return { observe: (value, labels) => record?.(value, attributes(labels, labelNames)) };
    }),

  /** With `collect`, the value is read on every scrape; otherwise use `set`. */
  gauge: (name: string, help: string, labelNames: readonly string[] = [], collect?: Collect): Gauge =>
    once('gauge', name, () => {
      if (collect !== undefined) return observedGauge(name, help, labelNames, collect);
      let set: ((value: number, labels: Attributes) => void) | undefined;
      register(name, (meter) => {
        const instrument = meter.createGauge(name, { description: help });
        set = (value, labels) => instrument.record(value, labels);
      });
      return { set: (value, labels) => set?.(value, attributes(labels, labelNames)) };
    }),
};

const observedGauge = (
  name: string,
  help: string,
  labelNames: readonly string[],
  collect: Collect,
): Gauge => {
  register(name, (meter) =>
    meter.createObservableGauge(name, { description: help }).addCallback(async (result: ObservableResult) => {
      const seen = await collect();
      const observations: readonly Observation[] = typeof seen === 'number' ? [{ value: seen }] : seen;
      for (const { value, labels } of observations) result.observe(value, attributes(labels, labelNames));
    }),
  );
  return { set: () => undefined };
};

import type { BoxFact, Sizes } from './usage-fact.js';

/** What an agent or a computer does at present, as far as its usage counts. A start from `resting` is a wake. */
export type MeterState = 'resting' | 'starting' | 'running' | 'failed';

/** The state of the counting of an agent or a computer. Times are Unix milliseconds. */
export interface BoxMeter {
  readonly boxId: string;
  readonly accountId: string;
  readonly endUserId: string | null;
  readonly createdMs: number;
  readonly deletedMs: number | null;
  readonly state: MeterState;
  /** Since when it has been running; null when it is not. */
  readonly runningMs: number | null;
  /** Until when its existence is counted. */
  readonly countedMs: number;
  readonly sizes: Sizes;
}

/** A time to count: of being active, or of existing. */
export interface Span {
  readonly kind: 'active' | 'existing';
  readonly from: number;
  readonly to: number;
  readonly sizes: Sizes;
}

export interface MeterChange {
  readonly meter: BoxMeter;
  readonly spans: readonly Span[];
  readonly wake: boolean;
}

export const newMeter = (
  { boxId, at, sizes, personal }: Extract<BoxFact, { kind: 'created' }>,
  accountId: string,
): BoxMeter => ({
  boxId,
  accountId,
  endUserId: personal.endUserId,
  createdMs: at,
  deletedMs: null,
  // Its first start is part of its creation, not a wake.
  state: 'failed',
  runningMs: null,
  countedMs: at,
  sizes,
});

/**
 * Whether a start is a wake: somebody asked for it while it rested, or a wake found it frozen before its host
 * reported it. A start after a failure, a recovery and a deployment are none, and neither is the second try of a wake.
 */
const isWake = (cause: string, state: MeterState): boolean =>
  cause === 'wake'
    ? state === 'resting' || state === 'running'
    : (cause === 'start' || cause === 'restart') && state === 'resting';

const NOTHING = { spans: [], wake: false } as const;

/** Applies a fact. Pure; what is deleted does not change any more. */
export const changeMeter = (meter: BoxMeter, fact: BoxFact): MeterChange => {
  if (meter.deletedMs !== null) return { meter, ...NOTHING };
  switch (fact.kind) {
    case 'starting': {
      const wake = isWake(fact.cause, meter.state);
      return { ...rest(meter, 'starting', fact.at), wake };
    }
    case 'running':
      return run(meter, fact.at);
    case 'resting':
    case 'failed':
      return rest(meter, fact.kind, fact.at);
    case 'unseen':
      // The next event says what it is now.
      return rest(meter, meter.state, Math.min(fact.since, fact.at));
    case 'ranUnseen':
      return { meter: { ...meter, runningMs: meter.runningMs ?? Math.min(fact.since, fact.at) }, ...NOTHING };
    case 'resized':
      return resize(meter, fact.sizes, fact.at);
    case 'deleted':
      return remove(meter, fact.at);
    case 'created':
      return { meter, ...NOTHING };
  }
};

const run = (meter: BoxMeter, at: number): MeterChange => ({
  meter: { ...meter, state: 'running', runningMs: meter.runningMs ?? at },
  ...NOTHING,
});

const active = ({ runningMs, sizes }: BoxMeter, to: number): readonly Span[] =>
  runningMs === null || runningMs >= to ? [] : [{ kind: 'active', from: runningMs, to, sizes }];

const existing = ({ countedMs, sizes }: BoxMeter, to: number): readonly Span[] =>
  countedMs >= to ? [] : [{ kind: 'existing', from: countedMs, to, sizes }];

const rest = (meter: BoxMeter, state: MeterState, at: number): MeterChange => ({
  meter: { ...meter, state, runningMs: null, countedMs: Math.max(meter.countedMs, at) },
  spans: [...active(meter, at), ...existing(meter, at)],
  wake: false,
});

/** Volumes never shrink. */
const resize = (meter: BoxMeter, sizes: Sizes, at: number): MeterChange => ({
  meter: {
    ...meter,
    sizes: { ...sizes, diskGb: Math.max(meter.sizes.diskGb, sizes.diskGb) },
    runningMs: meter.runningMs === null ? null : Math.max(meter.runningMs, at),
    countedMs: Math.max(meter.countedMs, at),
  },
  spans: [...active(meter, at), ...existing(meter, at)],
  wake: false,
});

const remove = (meter: BoxMeter, at: number): MeterChange => {
  const { spans, meter: rested } = rest(meter, 'failed', at);
  return { meter: { ...rested, deletedMs: Math.max(at, meter.createdMs) }, spans, wake: false };
};

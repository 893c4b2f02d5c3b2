import type { Decider } from '@berth/kernel';

/** A credential was refused on a route, with 403; once for each credential, route and minute. */
export interface AccessRefused {
  readonly type: 'AccessRefused';
  /** Method and pattern of the route. */
  readonly route: string;
  /** The code of the error. */
  readonly code: string;
  /** ISO 8601. */
  readonly at: string;
}

export type RefusalState = 'none' | 'recorded';

export interface RecordAccessRefusal {
  readonly route: string;
  readonly code: string;
  readonly at: string;
}

/** A stream is one credential on one route in one minute, so it has one event. */
export const refusalDecider: Decider<RefusalState, RecordAccessRefusal, AccessRefused> = {
  initial: 'none',
  decide: ({ route, code, at }, state) =>
    state === 'recorded' ? [] : [{ type: 'AccessRefused', route, code, at }],
  evolve: () => 'recorded',
};

/** How often the reconciler looks, and what it leaves to those who wait for it, in milliseconds. */
export interface Pace {
  readonly tick: number;
  readonly olderThan: number;
}

export const PACE: Pace = { tick: 3_000, olderThan: 5_000 };

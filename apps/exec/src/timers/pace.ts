/** How often the reconciler runs, and the age of executions that it handles; milliseconds. */
export interface Pace {
  readonly tick: number;
  readonly olderThan: number;
}

export const PACE: Pace = { tick: 3_000, olderThan: 5_000 };

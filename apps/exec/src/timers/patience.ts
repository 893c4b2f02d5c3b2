/** How patient the settlement is, in milliseconds. Each time counts from when the settlement itself first saw it so. */
export interface Patience {
  /** How long a command may be unknown to an agent that cannot start it: a hand-over takes it elsewhere within less. */
  readonly absent: number;
  /**
   * How long a command may be unknown to a guest that can start it. Nothing that was sent begins after that: hosts refuse
   * requests that nobody awaits, guests what they read too late (ADR 19).
   */
  readonly inFlight: number;
  /** A host that is gone may come back with what its journal knows. */
  readonly missing: number;
}

export const PATIENCE: Patience = { absent: 10_000, inFlight: 30_000, missing: 60_000 };

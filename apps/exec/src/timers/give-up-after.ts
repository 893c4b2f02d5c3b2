/** How long to wait before giving up an execution, in milliseconds since the settlement first observed the condition. */
export interface GiveUpAfter {
  /** Unknown to an agent that cannot start it. The dispatcher reroutes a command in less time. */
  readonly absent: number;
  /** Unknown to a guest that can start it; after this time the guest gets the request never to start it. */
  readonly preclude: number;
  /**
   * Unknown to a guest that can start it and cannot preclude that. After this time no request that is in flight can begin:
   * hosts and guests reject requests that arrive too late (ADR 19).
   */
  readonly inFlight: number;
  /** On a host that is gone. It may return with its journal. */
  readonly missing: number;
}

export const GIVE_UP_AFTER: GiveUpAfter = {
  absent: 10_000,
  preclude: 5_000,
  inFlight: 30_000,
  missing: 60_000,
};

/**
 * An agent or a computer at one epoch. Its host rejects a request with any other epoch without doing anything; it runs
 * both in boxes of the same kind, and the prefix of the id says whose a box is.
 */
export interface AgentEpoch {
  /** `agt_…` or `cmp_…`. */
  readonly agentId: string;
  readonly epoch: number;
}

/** The idle time of an agent at one epoch. */
export interface IdleTime extends AgentEpoch {
  /** Seconds of inactivity after which the host freezes the agent; 0 means never. */
  readonly idleTtlSeconds: number;
}

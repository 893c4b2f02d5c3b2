/** An agent at one epoch. The host rejects a request with any other epoch without doing anything. */
export interface AgentEpoch {
  readonly agentId: string;
  readonly epoch: number;
}

/** The idle time of an agent at one epoch. */
export interface IdleTime extends AgentEpoch {
  /** Seconds of inactivity after which the host freezes the agent; 0 means never. */
  readonly idleTtlSeconds: number;
}

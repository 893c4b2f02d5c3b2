/** An agent on a runtime host, as the host announces it. */
export interface ObservedAgent {
  readonly agentId: string;
  readonly epoch: number;
  readonly state: 'starting' | 'running' | 'frozen';
  /** Seconds of inactivity after which its host freezes it, 0: never. Absent in the announcement of an older release. */
  readonly idleTtlSeconds?: number;
}

/** The idle time that an agent must have at one epoch. */
export interface WantedIdleTime {
  readonly agentId: string;
  readonly epoch: number;
  readonly idleTtlSeconds: number;
}

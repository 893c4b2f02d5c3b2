/** An agent at one epoch. The host rejects a request with any other epoch without doing anything. */
export interface AgentEpoch {
  readonly agentId: string;
  readonly epoch: number;
}

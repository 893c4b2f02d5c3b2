/** Which agent at which wakefulness. A request with another epoch than the agent's is refused before it starts. */
export interface AgentEpoch {
  readonly agentId: string;
  readonly epoch: number;
}

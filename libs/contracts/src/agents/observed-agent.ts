/** What a runtime host has of an agent, as it announces it. */
export interface ObservedAgent {
  readonly agentId: string;
  readonly epoch: number;
  readonly state: 'starting' | 'running' | 'frozen';
}

/** An agent on a runtime host, as the host announces it. */
export interface ObservedAgent {
  readonly agentId: string;
  readonly epoch: number;
  readonly state: 'starting' | 'running' | 'frozen';
}

import type { AgentState } from './agent.view.js';

/** Public event `evt.agents.<name>.v1.<account>.<agent>`: what other services may know of an agent's life. */
export type AgentLifecycleEvent = {
  readonly agentId: string;
  readonly accountId: string;
  /** Said with `created` only. */
  readonly externalUserId: string | null;
  readonly state: AgentState;
  readonly epoch: number;
  /** ISO 8601. */
  readonly at: string;
};

export const AGENT_EVENTS = ['created', 'started', 'fell-asleep', 'stopped', 'failed', 'deleted'] as const;
export type AgentEventName = (typeof AGENT_EVENTS)[number];

import { defineRequest } from '@berth/kernel';

export interface AuthenticateAgent {
  readonly agentId: string;
  /** The epoch that the token names. */
  readonly epoch: number;
  /** SHA-256 of the whole token (`at_…`), hex. The token itself never travels. */
  readonly tokenHash: string;
}

/** The agent whose program holds the token. */
export interface AuthenticatedAgent {
  readonly accountId: string;
  readonly agentId: string;
  /** Whether the account or the end user of the agent is suspended; null if neither is. */
  readonly suspended: 'account_suspended' | 'end_user_suspended' | null;
}

/** Who pays for the LLM calls of the agent. */
export interface LlmCaller extends AuthenticatedAgent {
  /** Null for an agent without an end user. */
  readonly endUserId: string | null;
  /** The monthly spend cap in force; null: none. */
  readonly capCents: number | null;
}

/** The token that the program of an agent has in `BERTH_AGENT_TOKEN`. */
export const agentTokenRequests = {
  /** Errors: unauthenticated `unauthenticated` unless it is the token of the start that lives now. */
  authenticate: defineRequest<AuthenticateAgent, AuthenticatedAgent>('qry.agents.authenticate-agent.v1'),
  /** As `authenticate`, with what limits the agent's LLM calls. */
  llmCaller: defineRequest<AuthenticateAgent, LlmCaller>('qry.agents.llm-caller.v1'),
};

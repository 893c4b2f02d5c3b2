import type { AgentUse } from '@berth/agent-client';
import type { CommandEnvelope } from '@berth/kernel';

/** The agent to use, and the command it is used for. */
export interface AgentTarget extends CommandEnvelope {
  readonly agentId: string;
}

/** Returns how a request uses the agent: every file request counts as activity of the kind `file`. */
export const useOf = ({ commandId, accountId, actor, agentId }: AgentTarget): AgentUse => ({
  envelope: { commandId, accountId, actor },
  agentId,
  kind: 'file',
});

import type { CommandEnvelope } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import type { LiveAgent } from '../agent/agent.js';
import { VariableNames } from '../personal-data/variable-names.js';
import { AgentEnvStreams } from './agent-env.streams.js';

/** Records changes of variables that the vault has made. */
@Injectable()
export class EnvHistory {
  constructor(
    private readonly streams: AgentEnvStreams,
    private readonly names: VariableNames,
  ) {}

  /** Records it once for each command. Errors: not_found `agent_not_found` if the agent's end user is deleted. */
  async recordSet(
    agent: LiveAgent,
    { key, isSecret }: { readonly key: string; readonly isSecret: boolean },
    envelope: CommandEnvelope,
  ): Promise<void> {
    const { agentId } = agent;
    const variable = await this.names.seal(agent, key);
    const command = { type: 'Set', agentId, variable, isSecret, at: now() } as const;
    await this.streams.handle(agentId, command, envelope);
  }

  /** Like `recordSet`. */
  async recordRemoval(agent: LiveAgent, key: string, envelope: CommandEnvelope): Promise<void> {
    const { agentId } = agent;
    const variable = await this.names.seal(agent, key);
    await this.streams.handle(agentId, { type: 'Remove', agentId, variable, at: now() }, envelope);
  }
}

const now = (): string => new Date().toISOString();

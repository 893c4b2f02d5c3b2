import { aboutVariable } from '@berth/contracts/agents';
import { DomainError } from '@berth/kernel';
import { fromPersonal, toPersonal, type Personal, KeptKeys } from '@berth/personal-data';
import { Injectable } from '@nestjs/common';
import type { LiveAgent } from '../agent/agent.js';

/** The names of an agent's variables, as events hold them. */
@Injectable()
export class VariableNames {
  constructor(private readonly keys: KeptKeys) {}

  /** Errors: not_found `agent_not_found` if the agent's end user is deleted. */
  async seal({ agentId, profile }: LiveAgent, name: string): Promise<Personal<string>> {
    const { endUserId } = profile.personal;
    if (endUserId === null) return toPersonal(null, aboutVariable(agentId), name);
    const key = await this.keys.find(endUserId);
    if (key === null) throw new DomainError('not_found', 'agent_not_found', 'There is no such agent.');
    return toPersonal(key, aboutVariable(agentId), name);
  }

  /** Returns null if the agent's end user is deleted. */
  async open(agentId: string, name: Personal<string>): Promise<string | null> {
    const key = name.endUserId === null ? null : await this.keys.find(name.endUserId);
    return fromPersonal(key, aboutVariable(agentId), name);
  }
}

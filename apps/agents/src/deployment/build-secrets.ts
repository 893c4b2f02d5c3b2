import type { Personal } from '@berth/personal-data';
import { Injectable } from '@nestjs/common';
import type { LiveAgent } from '../agent/agent.js';
import { EnvVault } from '../env/env-vault.js';
import { VariableNames } from '../personal-data/variable-names.js';

/** The secret variables of agents with which hosts clone repositories. */
@Injectable()
export class BuildSecrets {
  constructor(
    private readonly vault: EnvVault,
    private readonly names: VariableNames,
  ) {}

  /** Returns the name as a deployment records it; null if the agent has no such secret. */
  async record(agent: LiveAgent, name: string): Promise<Personal<string> | null> {
    const secret = await this.vault.openSecret(agent.agentId, name);
    return secret === null ? null : this.names.seal(agent, name);
  }

  /** Returns the value, only for the host that uses it; null if it is gone. */
  async open(agentId: string, recorded: Personal<string>): Promise<string | null> {
    const name = await this.names.open(agentId, recorded);
    return name === null ? null : this.vault.openSecret(agentId, name);
  }
}

import type { StartAgent } from '@berth/contracts/runtime';
import type { EnvVault } from '../env/env-vault.js';
import { agentToken } from './agent-token.js';
import type { LiveAgent } from './agent.js';

/** Puts together what a host needs to start an agent: variables, secrets, token, sizes. */
export class StartRecipe {
  constructor(
    private readonly vault: Pick<EnvVault, 'open' | 'forget'>,
    private readonly tokenSecret: Buffer,
  ) {}

  async of(agent: LiveAgent, deadlineMs: number): Promise<StartAgent> {
    const { agentId, epoch, profile, source } = agent;
    const env = await this.vault.open(agentId);
    return {
      agentId,
      epoch,
      accountId: profile.accountId,
      source,
      env: env.values,
      secretKeys: env.secretKeys,
      token: agentToken(this.tokenSecret, agentId, epoch),
      instructions: profile.instructions,
      resources: profile.resources,
      idleTtlSeconds: profile.idleTtlSeconds,
      deadlineMs,
    };
  }

  /** Nothing of a deleted agent's secrets stays. */
  async forget(agentId: string): Promise<void> {
    await this.vault.forget(agentId);
  }
}

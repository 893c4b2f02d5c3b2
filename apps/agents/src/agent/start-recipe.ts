import type { StartAgent, ThawAgent } from '@berth/contracts/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { AgentsConfig } from '../config.js';
import { EnvVault } from '../env/env-vault.js';
import { AgentIdentities } from '../personal-data/agent-identities.js';
import { ownValuesOf, valuesInForce } from '../policy/in-force.js';
import { Policies } from '../policy/policies.js';
import type { AdmittedWake } from './act.js';
import { ownerOf } from './owner.js';
import { agentToken, tokenSecretOf } from './agent-token.js';
import type { LiveAgent } from './agent.js';
import { haveSameSizes } from './sizes.js';
import { sourceOf, startsWith } from './agent-versions.js';

/** Composes the request that starts an agent on a host: variables, secrets, token, sizes. */
@Injectable()
export class StartRecipe {
  private readonly tokenSecret: Buffer;

  constructor(
    @Inject(EnvVault) private readonly vault: Pick<EnvVault, 'open' | 'forget'>,
    @Inject(AgentIdentities) private readonly identities: Pick<AgentIdentities, 'of'>,
    @Inject(Policies) private readonly policies: Pick<Policies, 'inForce'>,
    @Inject(AgentsConfig) { keyring }: Pick<AgentsConfig, 'keyring'>,
  ) {
    this.tokenSecret = tokenSecretOf(keyring);
  }

  async of(agent: LiveAgent, deadlineMs: number): Promise<StartAgent> {
    const { agentId, epoch, life, profile } = agent;
    const [env, { instructions }, { resources, idleTtlSeconds }] = await Promise.all([
      this.vault.open(agentId),
      this.identities.of(agentId, profile.personal),
      this.valuesOf(agent),
    ]);
    return {
      agentId,
      epoch,
      accountId: profile.accountId,
      // A deployment may have built another one since the start was decided.
      source: 'version' in life ? sourceOf(agent, life.version) : startsWith(agent),
      templateId: profile.templateId,
      env: env.values,
      secretKeys: env.secretKeys,
      token: agentToken(this.tokenSecret, agentId, epoch),
      instructions,
      resources,
      idleTtlSeconds,
      deadlineMs,
    };
  }

  /**
   * The request that thaws the agent; null if other sizes are in force than it has, which only a cold start gives it.
   * Looks nothing up for the wake that was `admitted`.
   */
  async ofThaw(agent: LiveAgent, admitted: AdmittedWake | null): Promise<ThawAgent | null> {
    const { agentId, epoch, sizes } = agent;
    const { resources, idleTtlSeconds } =
      admitted?.epoch === epoch
        ? valuesInForce(ownValuesOf(agent), admitted.policy)
        : await this.valuesOf(agent);
    return haveSameSizes(resources, sizes) ? { agentId, epoch, idleTtlSeconds } : null;
  }

  private async valuesOf(agent: LiveAgent): Promise<ReturnType<typeof valuesInForce>> {
    return valuesInForce(ownValuesOf(agent), await this.policies.inForce(ownerOf(agent.profile)));
  }

  /** Removes the variables of a deleted agent. */
  async forget(agentId: string): Promise<void> {
    await this.vault.forget(agentId);
  }
}

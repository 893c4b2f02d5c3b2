import type { CreateAgent } from '@berth/contracts/agents';
import type { Policy } from '@berth/contracts/schema';
import { Inject, Injectable } from '@nestjs/common';
import { EnvVault } from '../env/env-vault.js';
import { Placement } from '../host/placement.js';
import type { Holder } from '../reservation/reservation.js';
import { AgentLimit } from '../plan/agent-limit.js';
import { valuesInForce } from '../policy/in-force.js';
import { Policies } from '../policy/policies.js';
import { ownerOf, type Owner } from './owner.js';
import { Reservations } from '../reservation/reservations.js';
import type { AgentIdentity, Profile } from './agent.js';
import { allClaimsOf, claimsOf, type Uniqueness } from './claims.js';

/** One attempt of one command to create an agent. */
export interface CreationAttempt extends Holder {
  readonly request: CreateAgent;
  readonly profile: Profile;
  /** The personal part of the profile in plaintext. */
  readonly identity: AgentIdentity;
  readonly uniqueness: Uniqueness;
}

/**
 * The resources that an attempt needs before its agent exists: the agent's names, a seat in the account's plan, a place
 * on a host, and the variables in the vault.
 */
@Injectable()
export class CreationResources {
  constructor(
    private readonly reservations: Reservations,
    @Inject(AgentLimit) private readonly limit: Pick<AgentLimit, 'take' | 'release'>,
    @Inject(Placement) private readonly placement: Pick<Placement, 'place'>,
    @Inject(Policies) private readonly policies: Pick<Policies, 'inForce'>,
    @Inject(EnvVault) private readonly vault: Pick<EnvVault, 'putCreated' | 'forgetCreated'>,
  ) {}

  /**
   * Acquires the resources, the names first, and returns the host. Errors: conflict `agent_name_taken`,
   * `external_id_taken`; `AgentOfEndUserExists`; payment_required `plan_limit_reached`; unavailable `no_capacity`;
   * `CreationOvertaken` if the attempt was abandoned in the meantime.
   */
  async acquire({ uniqueness, ...creation }: CreationAttempt): Promise<string> {
    const { agentId, attempt, request, profile, identity } = creation;
    for (const claim of claimsOf(profile, identity, uniqueness))
      await this.reservations.claim(claim, { agentId, attempt }, request);
    const { accountId } = profile;
    await this.limit.take({ agentId, attempt }, accountId);
    const own = { ...profile, volumeGb: null };
    const { resources } = valuesInForce(own, await this.policyOf(ownerOf(profile)));
    const host = await this.placement.place({ agentId, attempt, accountId, ...resources });
    await this.vault.putCreated(agentId, attempt, request.env);
    return host;
  }

  /** The policy that applies to the new agent from its first start. */
  policyOf(owner: Owner): Promise<Policy | null> {
    return this.policies.inForce(owner);
  }

  /** Releases the resources of an attempt that was abandoned in the log. */
  async release(attempt: CreationAttempt): Promise<void> {
    await Promise.all([
      this.vault.forgetCreated(attempt.agentId, attempt.attempt),
      this.releaseNames(attempt),
      this.limit.release(attempt),
    ]);
  }

  /** Releases the names of an agent that was created and is deleted. */
  async releaseCreated({ agentId, request, profile, identity }: CreationAttempt): Promise<void> {
    for (const claim of allClaimsOf(profile, identity))
      await this.reservations.release(claim, { agentId, attempt: null }, request);
  }

  private async releaseNames({
    agentId,
    attempt,
    request,
    profile,
    identity,
  }: CreationAttempt): Promise<void> {
    for (const claim of allClaimsOf(profile, identity))
      await this.reservations.release(claim, { agentId, attempt }, request);
  }
}

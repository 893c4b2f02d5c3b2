import type { CreateAgent } from '@berth/contracts/agents';
import { Inject, Injectable } from '@nestjs/common';
import { EnvVault } from '../env/env-vault.js';
import { Placement } from '../host/placement.js';
import type { Holder } from '../reservation/reservation.js';
import { Reservations } from '../reservation/reservations.js';
import type { Profile } from './agent.js';
import { claimsOf } from './claims.js';

/** One attempt of one command to create an agent. */
export interface CreationAttempt extends Holder {
  readonly request: CreateAgent;
  readonly profile: Profile;
}

/** What an attempt needs before its agent exists: its names, a place on a host, and its variables in the vault. */
@Injectable()
export class CreationResources {
  constructor(
    private readonly reservations: Reservations,
    @Inject(Placement) private readonly placement: Pick<Placement, 'place'>,
    @Inject(EnvVault) private readonly vault: Pick<EnvVault, 'putCreated' | 'forgetCreated'>,
  ) {}

  /**
   * Acquires the resources, the names first, and returns the host. Errors: conflict `agent_name_taken`,
   * `external_id_taken`; unavailable `no_capacity`; `CreationOvertaken` when the attempt was abandoned in the meantime.
   */
  async acquire({ agentId, attempt, request, profile }: CreationAttempt): Promise<string> {
    for (const claim of claimsOf(profile))
      await this.reservations.claim(claim, { agentId, attempt }, request);
    const { accountId, resources } = profile;
    const host = await this.placement.place({ agentId, attempt, accountId, ...resources });
    await this.vault.putCreated(agentId, attempt, request.env);
    return host;
  }

  /** Releases the resources of an attempt that was abandoned in the log. */
  async release(attempt: CreationAttempt): Promise<void> {
    await Promise.all([
      this.vault.forgetCreated(attempt.agentId, attempt.attempt),
      this.releaseNames(attempt),
    ]);
  }

  private async releaseNames({ agentId, attempt, request, profile }: CreationAttempt): Promise<void> {
    for (const claim of claimsOf(profile))
      await this.reservations.release(claim, { agentId, attempt }, request);
  }
}

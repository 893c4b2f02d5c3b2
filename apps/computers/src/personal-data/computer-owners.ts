import type { CommandEnvelope } from '@berth/kernel';
import { KeptKeys, ResourceOwners } from '@berth/personal-data';
import { Injectable } from '@nestjs/common';
import type { LiveComputer } from '../computer/computer.js';
import { identityFrom } from './computer-identity.js';

/** The end users who own computers. */
@Injectable()
export class ComputerOwners {
  constructor(
    private readonly owners: ResourceOwners,
    private readonly keys: KeptKeys,
  ) {}

  /**
   * Creates the owner of a new computer unless it exists; returns false if it was deleted. Errors: unavailable
   * `service_unavailable`.
   */
  async ensure({ computerId, profile }: LiveComputer, origin: CommandEnvelope): Promise<boolean> {
    const { personal } = profile;
    if (personal.endUserId === null) return true;
    const key = await this.keys.find(personal.endUserId);
    const identity = identityFrom(key, computerId, personal);
    if (identity === null) return false;
    const { externalUserId } = identity;
    return this.owners.ensure({ ...origin, externalUserId }, personal.endUserId);
  }
}

import type { CommandEnvelope } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { AgentsOfEndUser } from '../agents-of-end-user.js';
import { ComputersOfEndUser } from '../computers-of-end-user.js';
import { ExternalIds } from '../external-id/external-ids.js';
import { PersonalKeys } from '../personal-data/personal-keys.js';
import { TokenVault } from '../token/token-vault.js';
import type { DeletedEndUser } from './end-user.js';
import { EndUserWrites } from './end-user-writes.js';

/** Removes what a deleted end user leaves: its agents and computers, its external id, and last every copy of the key of its personal data. */
@Injectable()
export class EndUserErasure {
  constructor(
    private readonly agents: AgentsOfEndUser,
    private readonly computers: ComputersOfEndUser,
    private readonly externalIds: ExternalIds,
    private readonly keys: PersonalKeys,
    private readonly tokens: TokenVault,
    private readonly writes: EndUserWrites,
  ) {}

  /** Every step may be repeated: the external id is known as long as the key exists. */
  async run(
    { endUserId, accountId, sealed, erased }: DeletedEndUser,
    envelope: CommandEnvelope,
  ): Promise<void> {
    await this.tokens.forgetAllOf(endUserId);
    const personal = await this.keys.find(endUserId);
    const externalId = personal === null || erased ? null : personal.open(sealed).externalId;
    // Each is deleted also while the service of the other cannot be reached.
    await Promise.all([
      externalId === null ? undefined : this.agents.deleteAll(envelope, { accountId, endUserId, externalId }),
      this.computers.forget(envelope, endUserId),
    ]);
    if (externalId !== null) await this.externalIds.release(envelope, externalId, endUserId);
    await this.agents.forget(envelope, endUserId);
    await this.keys.destroy(endUserId);
    await this.writes.recordErasure(endUserId, envelope);
  }
}

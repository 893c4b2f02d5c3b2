import { endUsersRequests } from '@berth/contracts/end-users';
import { DomainError, isDomainError, stepOf, type CommandEnvelope } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Logger } from '@berth/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import { KeptKeys } from './kept-keys.js';
import { PersonalKey } from './personal-key.js';

/** A command that creates a resource, for an end user or for none. */
export interface CreationForEndUser extends CommandEnvelope {
  readonly externalUserId: string | null;
}

/** The end users for whom a service creates resources. */
@Injectable()
export class ResourceOwners {
  constructor(
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
    @Inject(KeptKeys) private readonly keys: Pick<KeptKeys, 'keep'>,
    private readonly log: Logger,
  ) {}

  /**
   * Returns the key of the end user who will own the resource, which may not exist yet; null if there is none. Errors:
   * invalid `invalid_external_id`; unavailable `service_unavailable`.
   */
  async enlist(request: CreationForEndUser): Promise<PersonalKey | null> {
    const { commandId, accountId, actor, externalUserId: externalId } = request;
    if (externalId === null) return null;
    // Not a step: the id of a new end user derives from the command's id.
    const command = { commandId, accountId, actor, externalId };
    const { endUserId, key } = await this.requester.request(endUsersRequests.enlist, command);
    const kept = await this.keys.keep(new PersonalKey(endUserId, Buffer.from(key, 'base64')));
    if (kept === null) throw ownerDeleted();
    return kept;
  }

  /**
   * Creates the owner of a new resource unless it exists; returns false if it was deleted in the meantime. Errors:
   * unavailable `service_unavailable`.
   */
  async ensure(request: CreationForEndUser, endUserId: string): Promise<boolean> {
    const { externalUserId: externalId } = request;
    if (externalId === null) return true;
    const command = { ...stepOf(request, 'owner-created'), externalId, endUserId };
    try {
      await this.requester.request(endUsersRequests.createEnlisted, command);
      return true;
    } catch (error) {
      if (isDomainError(error, 'not_found')) return false;
      throw error;
    }
  }

  /** As `ensure`, but an owner that cannot be created now is left to be created later; then returns true. */
  async create(request: CreationForEndUser, endUserId: string): Promise<boolean> {
    return this.ensure(request, endUserId).catch((error: unknown) => {
      this.log.warn({ endUserId, err: error }, 'the end user of a new resource is not created yet');
      return true;
    });
  }
}

const ownerDeleted = (): DomainError =>
  new DomainError('unavailable', 'service_unavailable', 'The end user is being deleted. Try again shortly.');

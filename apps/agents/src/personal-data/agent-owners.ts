import type { CreateAgent } from '@berth/contracts/agents';
import { endUsersRequests } from '@berth/contracts/end-users';
import { DomainError, isDomainError, stepOf } from '@berth/kernel';
import { PersonalKey } from '@berth/personal-data';
import { Requester } from '@berth/messaging';
import { Logger } from '@berth/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import { AgentKeys } from './agent-keys.js';

/** The end users for whom agents are created. */
@Injectable()
export class AgentOwners {
  constructor(
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
    @Inject(AgentKeys) private readonly keys: Pick<AgentKeys, 'keep'>,
    private readonly log: Logger,
  ) {}

  /**
   * Returns the key of the end user who will own the agent, which may not exist yet; null if there is none. Errors: invalid
   * `invalid_external_id`; unavailable `service_unavailable`.
   */
  async enlist(request: CreateAgent): Promise<PersonalKey | null> {
    const { commandId, accountId, actor, externalUserId: externalId } = request;
    if (externalId === null) return null;
    // Not a step: the id of a new end user derives from the command's id.
    const command = { commandId, accountId, actor, externalId };
    const { endUserId, key } = await this.requester.request(endUsersRequests.enlist, command);
    const kept = await this.keys.keep(new PersonalKey(endUserId, Buffer.from(key, 'base64')));
    if (kept === null) throw ownerDeleted();
    return kept;
  }

  /** Creates the owner of a new agent unless it exists; returns false if it was deleted in the meantime. */
  async create(request: CreateAgent, endUserId: string): Promise<boolean> {
    const { externalUserId: externalId } = request;
    if (externalId === null) return true;
    const command = { ...stepOf(request, 'owner-created'), externalId, endUserId };
    try {
      await this.requester.request(endUsersRequests.createEnlisted, command);
    } catch (error) {
      if (isDomainError(error, 'not_found')) return false;
      // `end-users` creates it when it hears of the agent.
      this.log.warn({ endUserId, err: error }, 'the end user of a new agent is not created yet');
    }
    return true;
  }
}

const ownerDeleted = (): DomainError =>
  new DomainError('unavailable', 'service_unavailable', 'The end user is being deleted. Try again shortly.');

import { computersRequests } from '@berth/contracts/computers';
import { stepOf, type CommandEnvelope } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Logger } from '@berth/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import type { LiveEndUser } from './end-user/end-user.js';

/** The computers of end users, which `computers` has. */
@Injectable()
export class ComputersOfEndUser {
  constructor(
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
    private readonly log: Logger,
  ) {}

  /** See `AgentsOfEndUser.setStanding`. */
  async setStanding({ endUserId, suspendedAt }: LiveEndUser, position: bigint): Promise<void> {
    const standing = { endUserId, suspended: suspendedAt !== null, position: position.toString() };
    try {
      await this.requester.request(computersRequests.setEndUserStanding, standing);
    } catch (error) {
      this.log.warn({ err: error, endUserId }, 'the computers of an end user follow its standing later');
    }
  }

  /** Returns once no computer of the end user is left, and no copy of its key. */
  async forget(envelope: CommandEnvelope, endUserId: string): Promise<void> {
    await this.requester.request(computersRequests.forgetEndUser, {
      ...stepOf(envelope, 'forget-computers'),
      endUserId,
    });
  }
}

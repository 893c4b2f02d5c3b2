import { deliveryRequests } from '@berth/contracts/delivery';
import type { PutFile } from '@berth/contracts/files';
import { isDomainError } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import type { AgentTarget } from '../agent-target.js';
import { LaterAttempts } from './later-attempts.js';

const ANSWER_MS = 5_000;

/** Notifies an agent of a file in its inbox. Never throws: the file is stored in any case. */
@Injectable()
export class AttachmentTeller {
  constructor(
    private readonly requester: Requester,
    private readonly later: LaterAttempts,
    private readonly log: Logger,
  ) {}

  /**
   * Resolves once `delivery` has accepted the message or turned out to be unreachable. Notifies once per command id.
   */
  async tell(
    { commandId, accountId, actor, agentId }: AgentTarget,
    message: string | null,
    { path, name, size }: PutFile,
  ): Promise<void> {
    const attachment = { path, name, size };
    const request = { commandId, accountId, actor, agentId, message, attachment };
    const ask = (): Promise<unknown> =>
      this.requester.request(deliveryRequests.tellAttachment, request, { deadlineMs: ANSWER_MS });
    try {
      await ask();
    } catch (error) {
      this.log.warn({ agentId, err: error }, 'could not notify an agent of a file yet');
      if (!isDomainError(error) || error.kind === 'unavailable' || error.kind === 'timeout')
        this.later.begin({ what: 'notification of an attachment', agentId }, ask);
    }
  }
}

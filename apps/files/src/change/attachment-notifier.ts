import { deliveryRequests } from '@berth/contracts/delivery';
import type { PutFile } from '@berth/contracts/hosting';
import { isDomainError } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import type { AgentTarget } from '../agent-target.js';
import { BackgroundRetries } from './background-retries.js';

const RESPONSE_MS = 5_000;

/** Notifies an agent of a file in its inbox. Never throws: the file is stored in any case. */
@Injectable()
export class AttachmentNotifier {
  constructor(
    private readonly requester: Requester,
    private readonly retries: BackgroundRetries,
    private readonly log: Logger,
  ) {}

  /**
   * Resolves once `delivery` has accepted the message, or the first attempt has failed; retries in the background while
   * `delivery` is unreachable. Notifies the agent once per command id.
   */
  async notify(
    { commandId, accountId, actor, agentId }: AgentTarget,
    message: string | null,
    { path, name, size }: PutFile,
  ): Promise<void> {
    const attachment = { path, name, size };
    const request = { commandId, accountId, actor, agentId, message, attachment };
    const send = (): Promise<unknown> =>
      this.requester.request(deliveryRequests.deliverAttachment, request, { deadlineMs: RESPONSE_MS });
    try {
      await send();
    } catch (error) {
      this.log.warn({ agentId, err: error }, 'could not notify an agent of a file yet');
      if (!isDomainError(error) || error.kind === 'unavailable' || error.kind === 'timeout')
        this.retries.begin({ what: 'notification of an attachment', agentId }, send);
    }
  }
}

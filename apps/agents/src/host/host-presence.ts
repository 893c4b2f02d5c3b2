import { runtimeRequests } from '@berth/contracts/runtime';
import { isDomainError } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Inject, Injectable } from '@nestjs/common';

/** How long a host has to confirm that it can start agents. */
const PRESENT_WITHIN_MS = 1_000;

/** Asks single hosts whether they are up and can start agents. */
@Injectable()
export class HostPresence {
  constructor(@Inject(Requester) private readonly requester: Pick<Requester, 'request'>) {}

  /** False also when the host is gone or does not respond within 1 s. */
  async canStart(host: string): Promise<boolean> {
    try {
      await this.requester.request(runtimeRequests.describe, {}, { host, deadlineMs: PRESENT_WITHIN_MS });
      return true;
    } catch (error) {
      if (isDomainError(error, 'unavailable') || isDomainError(error, 'timeout')) return false;
      throw error;
    }
  }
}

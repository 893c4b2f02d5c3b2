import { runtimeRequests } from '@berth/contracts/runtime';
import { isDomainError } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Inject, Injectable } from '@nestjs/common';

/** How long a host has to confirm that it is available. */
const PRESENT_WITHIN_MS = 500;

/** Asks single hosts whether they are up. */
@Injectable()
export class HostPresence {
  constructor(@Inject(Requester) private readonly requester: Pick<Requester, 'request'>) {}

  /** False when the host is gone or does not respond within 500 ms. */
  async confirms(host: string): Promise<boolean> {
    try {
      await this.requester.request(runtimeRequests.describe, {}, { host, deadlineMs: PRESENT_WITHIN_MS });
      return true;
    } catch (error) {
      if (isDomainError(error, 'unavailable') || isDomainError(error, 'timeout')) return false;
      throw error;
    }
  }
}

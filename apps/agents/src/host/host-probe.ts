import { runtimeRequests, type HostView } from '@berth/contracts/runtime';
import { isDomainError } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Inject, Injectable } from '@nestjs/common';

/** How long a host may take to respond. */
const RESPONDS_WITHIN_MS = 1_000;

/** Checks whether a single host is up and can start agents. */
@Injectable()
export class HostProbe {
  constructor(@Inject(Requester) private readonly requester: Pick<Requester, 'request'>) {}

  async canStart(host: string): Promise<boolean> {
    return (await this.describe(host)) !== null;
  }

  /** Returns null if the host can start no agents, is gone, or does not respond within 1 s. */
  async describe(host: string): Promise<HostView | null> {
    try {
      return await this.requester.request(
        runtimeRequests.describe,
        {},
        { host, deadlineMs: RESPONDS_WITHIN_MS },
      );
    } catch (error) {
      if (isDomainError(error, 'unavailable') || isDomainError(error, 'timeout')) return null;
      throw error;
    }
  }
}

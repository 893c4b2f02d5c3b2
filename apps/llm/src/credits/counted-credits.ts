import { accountsRequests } from '@berth/contracts/accounts';
import { Requester } from '@berth/messaging';
import { Injectable } from '@nestjs/common';

/** Whether credits of an account are counted before any was granted: of every account but the first. */
@Injectable()
export class CountedCredits {
  readonly #known = new Map<string, boolean>();

  constructor(private readonly requester: Requester) {}

  async fromStart(accountId: string): Promise<boolean> {
    const known = this.#known.get(accountId);
    if (known !== undefined) return known;
    const { isFirst } = await this.requester.request(accountsRequests.isFirst, { accountId });
    this.#known.set(accountId, !isFirst);
    return !isFirst;
  }
}

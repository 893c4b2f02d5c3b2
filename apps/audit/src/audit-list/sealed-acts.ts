import { endUsersRequests } from '@berth/contracts/end-users';
import type { Json } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { PersonalKey } from '@berth/personal-data';
import { Injectable } from '@nestjs/common';
import { openDetails, type SealedDetails } from './personal-details.js';

/** An act, and what of its details is sealed. */
interface SealedAct {
  readonly details: { readonly [member: string]: Json };
  readonly sealed: SealedDetails | null;
}

/**
 * Opens the details of acts on the agents of end users. It asks for the keys anew each time and keeps none, so that an act
 * shows nothing of an end user as soon as that is deleted.
 */
@Injectable()
export class SealedActs {
  constructor(private readonly requester: Requester) {}

  /** The acts with what is sealed in their details, by one request for all. Errors: unavailable `service_unavailable`. */
  async open<Act extends SealedAct>(accountId: string, acts: readonly Act[]): Promise<readonly Act[]> {
    const owners = acts.flatMap(({ sealed }) => (sealed === null ? [] : [sealed.endUserId]));
    const keys = await this.keysOf(accountId, [...new Set(owners)]);
    return acts.map((act) => {
      const { sealed } = act;
      if (sealed === null) return act;
      return { ...act, details: { ...act.details, ...openDetails(keys.get(sealed.endUserId), sealed) } };
    });
  }

  private async keysOf(
    accountId: string,
    endUserIds: readonly string[],
  ): Promise<ReadonlyMap<string, PersonalKey>> {
    if (endUserIds.length === 0) return new Map();
    const { items } = await this.requester.request(endUsersRequests.personalKeys, { accountId, endUserIds });
    return new Map(
      items.map(({ endUserId, key }) => [endUserId, new PersonalKey(endUserId, Buffer.from(key, 'base64'))]),
    );
  }
}

import { endUsersEvents } from '@berth/contracts/end-users';
import type { EventCodec, RecordedEvent } from '@berth/event-store';
import { contractEvent, type ContractEvent } from '@berth/kernel';
import type { TokenEvent } from './tokens.decider.js';

/** Codec of the streams `endUserTokens-eus_…`. */
export const tokenCodec: EventCodec<TokenEvent> = {
  category: 'endUserTokens',
  toStored: ({ type, ...data }) => ({ type, data }),
  fromStored: ({ type, data }) => {
    if (type !== 'EndUserTokenMinted' && type !== 'EndUserTokensRevoked')
      throw new Error(`No event of an end user's tokens has the type ${type}.`);
    return { type, ...data } as unknown as TokenEvent;
  },
};

/** Returns the public part of an event. */
export const toTokenContractEvent = (recorded: RecordedEvent): ContractEvent => {
  const event = tokenCodec.fromStored(recorded);
  const { accountId, endUserId } = event;
  const about = { accountId, subjectId: endUserId };
  if (event.type === 'EndUserTokensRevoked') {
    const payload = { accountId, endUserId, tokenIds: [...event.tokenIds], at: event.revokedAt };
    return contractEvent(endUsersEvents.tokensRevoked, about, payload);
  }
  const { tokenId, agentId, scopes, expiresAt, mintedAt } = event;
  const payload = { accountId, endUserId, tokenId, agentId, scopes: [...scopes], expiresAt, at: mintedAt };
  return contractEvent(endUsersEvents.tokenMinted, about, payload);
};

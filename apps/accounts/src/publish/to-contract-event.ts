import { accountsEvents } from '@berth/contracts/accounts';
import type { RecordedEvent } from '@berth/event-store';
import { contractEvent, type ContractEvent } from '@berth/kernel';
import { accountCodec } from '../account/account.events.js';
import { keyCodec } from '../key/key.events.js';

/** The categories of streams whose events are published. */
export const PUBLISHED_CATEGORIES = [accountCodec.category, keyCodec.category];

/**
 * Returns the public form of a stored event; null when the event is private. Copies member by member, so that a new member
 * of a stored event stays private until it is named here.
 */
export const toContractEvent = (recorded: RecordedEvent): ContractEvent | null => {
  switch (recorded.stream.slice(0, recorded.stream.indexOf('-'))) {
    case accountCodec.category:
      return publishAccount(recorded);
    case keyCodec.category:
      return publishKey(recorded);
    default:
      return null;
  }
};

const publishAccount = (recorded: RecordedEvent): ContractEvent | null => {
  const event = accountCodec.fromStored(recorded);
  const { accountId } = event;
  const about = { accountId, subjectId: accountId };
  switch (event.type) {
    case 'AccountOpened.v2':
      return contractEvent(accountsEvents.accountOpened, about, {
        accountId,
        plan: event.plan,
        at: event.openedAt,
      });
    case 'AccountSuspended':
      return contractEvent(accountsEvents.accountSuspended, about, { accountId, at: event.suspendedAt });
    case 'AccountResumed':
      return contractEvent(accountsEvents.accountResumed, about, { accountId, at: event.resumedAt });
    case 'AccountChanged':
      return null;
  }
};

const publishKey = (recorded: RecordedEvent): ContractEvent | null => {
  const event = keyCodec.fromStored(recorded);
  const { accountId, keyId } = event;
  const about = { accountId, subjectId: keyId };
  if (event.type === 'KeyRevoked')
    return contractEvent(accountsEvents.keyRevoked, about, { accountId, keyId, at: event.revokedAt });
  if (event.type === 'KeyScopesExtended') return null;
  const { scopes, expiresAt, mintedAt } = event;
  const payload = { accountId, keyId, scopes: [...scopes], expiresAt, at: mintedAt };
  return contractEvent(accountsEvents.keyMinted, about, payload);
};

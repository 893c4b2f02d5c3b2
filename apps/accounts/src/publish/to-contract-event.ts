import type {
  AccountOpenedEvent,
  AccountsEventName,
  KeyMintedEvent,
  KeyRevokedEvent,
} from '@berth/contracts/accounts';
import type { RecordedEvent } from '@berth/event-store';
import type { ContractEvent } from '@berth/messaging';
import { accountCodec } from '../account/account.events.js';
import { keyCodec } from '../key/key.events.js';

/** Whose events are published. */
export const PUBLISHED_CATEGORIES = [accountCodec.category, keyCodec.category];

/** What others may know, member by member: a new member of a stored event stays private until it is named here. */
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

const publishAccount = (recorded: RecordedEvent): ContractEvent => {
  const { accountId, plan, openedAt } = accountCodec.fromStored(recorded);
  return {
    subject: subjectOf('account-opened', accountId, accountId),
    payload: { accountId, plan, at: openedAt } satisfies AccountOpenedEvent,
  };
};

const publishKey = (recorded: RecordedEvent): ContractEvent | null => {
  const event = keyCodec.fromStored(recorded);
  const { accountId, keyId } = event;
  if (event.type === 'KeyRevoked') {
    return {
      subject: subjectOf('key-revoked', accountId, keyId),
      payload: { accountId, keyId, at: event.revokedAt } satisfies KeyRevokedEvent,
    };
  }
  if (event.type === 'KeyScopesExtended') return null;
  const { scopes, expiresAt, mintedAt } = event;
  return {
    subject: subjectOf('key-minted', accountId, keyId),
    payload: { accountId, keyId, scopes, expiresAt, at: mintedAt } satisfies KeyMintedEvent,
  };
};

const subjectOf = (name: AccountsEventName, accountId: string, id: string): string =>
  `evt.accounts.${name}.v1.${accountId}.${id}`;

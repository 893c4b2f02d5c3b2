import type {
  AccountOpenedEvent,
  AccountsEventName,
  KeyMintedEvent,
  KeyRevokedEvent,
} from '@berth/contracts-accounts';
import type { RecordedEvent } from '@berth/event-store';
import { accountCodec } from '../account/account.events.js';
import { keyCodec } from '../key/key.events.js';

/** What others may know, member by member: a new member of a stored event stays private until it is named here. */
export const toContractEvent = (recorded: RecordedEvent): { subject: string; payload: object } | null => {
  switch (categoryOf(recorded.stream)) {
    case accountCodec.category:
      return publishAccount(recorded);
    case keyCodec.category:
      return publishKey(recorded);
    default:
      return null;
  }
};

const publishAccount = (recorded: RecordedEvent): { subject: string; payload: AccountOpenedEvent } => {
  const { accountId, plan, openedAt } = accountCodec.fromStored(recorded);
  return {
    subject: subjectOf('account-opened', accountId, accountId),
    payload: { accountId, plan, at: openedAt },
  };
};

const publishKey = (
  recorded: RecordedEvent,
): { subject: string; payload: KeyMintedEvent | KeyRevokedEvent } => {
  const event = keyCodec.fromStored(recorded);
  const { accountId, keyId } = event;
  if (event.type === 'KeyRevoked') {
    return {
      subject: subjectOf('key-revoked', accountId, keyId),
      payload: { accountId, keyId, at: event.revokedAt },
    };
  }
  const { scopes, expiresAt, mintedAt } = event;
  const payload = { accountId, keyId, scopes, expiresAt, at: mintedAt };
  return { subject: subjectOf('key-minted', accountId, keyId), payload };
};

const categoryOf = (stream: string): string => stream.slice(0, stream.indexOf('-'));

const subjectOf = (name: AccountsEventName, accountId: string, id: string): string =>
  `evt.accounts.${name}.v1.${accountId}.${id}`;

import Type, { type Static } from 'typebox';
import { defineEvent } from '../schema/define-event.js';
import { SCOPES } from './scopes.js';

const isoTime = Type.String({ description: 'ISO 8601.' });

const AccountOpened = Type.Object({ accountId: Type.String(), plan: Type.String(), at: isoTime });

const KeyMinted = Type.Object({
  accountId: Type.String(),
  keyId: Type.String(),
  scopes: Type.Array(Type.Enum([...SCOPES])),
  expiresAt: Type.Union([isoTime, Type.Null()]),
  at: isoTime,
});

const KeyRevoked = Type.Object({ accountId: Type.String(), keyId: Type.String(), at: isoTime });

const AccountStanding = Type.Object({ accountId: Type.String(), at: isoTime });

export type AccountStandingEvent = Readonly<Static<typeof AccountStanding>>;
export type AccountOpenedEvent = Readonly<Static<typeof AccountOpened>>;
export type KeyMintedEvent = Readonly<Static<typeof KeyMinted>>;
export type KeyRevokedEvent = Readonly<Static<typeof KeyRevoked>>;

/** The events of `accounts`: `evt.accounts.<name>.v1.<account>.<key, or the account itself>`. */
export const accountsEvents = {
  accountOpened: defineEvent('accounts', 'account-opened', AccountOpened),
  accountSuspended: defineEvent('accounts', 'account-suspended', AccountStanding),
  accountResumed: defineEvent('accounts', 'account-resumed', AccountStanding),
  keyMinted: defineEvent('accounts', 'key-minted', KeyMinted),
  /** The gateway does not consume this event: it looks up the keys of open sockets and streams every second. */
  keyRevoked: defineEvent('accounts', 'key-revoked', KeyRevoked),
};

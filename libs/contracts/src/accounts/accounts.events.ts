import type { Scope } from './accounts.requests.js';

/** `evt.accounts.account-opened.v1.<account>.<account>`. Times are ISO 8601. */
export interface AccountOpenedEvent {
  readonly accountId: string;
  readonly plan: string;
  readonly at: string;
}

/** `evt.accounts.key-minted.v1.<account>.<key>` */
export interface KeyMintedEvent {
  readonly accountId: string;
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: string | null;
  readonly at: string;
}

/** `evt.accounts.key-revoked.v1.<account>.<key>`: open sockets and streams of that key end. */
export interface KeyRevokedEvent {
  readonly accountId: string;
  readonly keyId: string;
  readonly at: string;
}

export const ACCOUNTS_EVENTS = ['account-opened', 'key-minted', 'key-revoked'] as const;
export type AccountsEventName = (typeof ACCOUNTS_EVENTS)[number];

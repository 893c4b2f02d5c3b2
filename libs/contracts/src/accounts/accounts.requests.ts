import { defineRequest, type CommandEnvelope, type Page } from '@berth/kernel';
import type { NullWhenAbsent, PageRequest } from '../schema/index.js';
import type { MintKeyBody, OpenAccountBody, UpdateAccountBody } from './accounts.schemas.js';
import type { Scope } from './scopes.js';

/** A key as the API shows it; the secret itself is shown once, on minting. Times are ISO 8601. */
export interface KeyView {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly accountId: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
}

export interface Authenticate {
  /** SHA-256 of the whole key (`mk_…`), hex. The key itself never travels. */
  readonly keyHash: string;
  /** false: the key is only looked up, which is no use of it. Absent in requests of earlier releases. */
  readonly isRequest?: boolean;
}

/** The caller behind a valid key. */
export interface Principal {
  readonly accountId: string;
  readonly keyId: string;
  readonly scopes: readonly Scope[];
}

/** `expiresAt` is ISO 8601 in UTC. */
export interface MintKey extends CommandEnvelope, NullWhenAbsent<MintKeyBody> {
  /** Scopes of the key that sends the request: it can grant only these (otherwise 403 `missing_scope`). */
  readonly holderScopes: readonly Scope[];
}

export interface MintedKey extends KeyView {
  /** `mk_` + 256 random bits + checksum, base62. No other response contains it. */
  readonly key: string;
}

export interface RevokeKey extends CommandEnvelope {
  readonly keyId: string;
  /**
   * Scopes of the key that sends the request: it can revoke itself, and keys that have no other scopes (otherwise 403
   * `missing_scope`). Absent in requests of earlier releases, which are not checked.
   */
  readonly holderScopes?: readonly Scope[];
}

export interface ListKeys extends PageRequest {
  readonly accountId: string;
}

/** An account as operators see it. Times are ISO 8601. */
export interface AccountView {
  readonly id: string;
  readonly name: string;
  readonly planId: string;
  readonly suspended: boolean;
  readonly suspendedAt: string | null;
  readonly createdAt: string;
}

/** `accountId` is the account of the operator's key. */
export interface OpenAccount extends CommandEnvelope, NullWhenAbsent<OpenAccountBody> {}

export interface OpenedAccount extends AccountView {
  /** The first key, with `FIRST_KEY_SCOPES`. No other response contains it. */
  readonly key: string;
  readonly keyId: string;
}

/** `accountId` is the account of the operator's key, `id` the account to change. A null member stays as it is. */
export interface UpdateAccount extends CommandEnvelope, NullWhenAbsent<UpdateAccountBody> {
  readonly id: string;
}

/** `accountId` is the account of the operator's key, `id` that of the new key. */
export interface MintFirstKey extends CommandEnvelope {
  readonly id: string;
}

export interface GetAccount {
  readonly id: string;
}

export interface GetOwnAccount {
  readonly accountId: string;
  readonly keyId: string;
}

/** The account of a key, and the key. */
export interface OwnAccountView {
  readonly id: string;
  readonly name: string;
  /** The id of its plan. */
  readonly plan: string;
  /** Null: no credits are counted. */
  readonly credits: { readonly balanceCents: number | null };
  readonly key: { readonly id: string; readonly name: string; readonly scopes: readonly Scope[] };
}

export interface PlansInUse {
  /** The ids of plans that at least one account has. */
  readonly planIds: readonly string[];
}

export interface GetStanding {
  readonly accountId: string;
}

export interface Standing {
  readonly suspended: boolean;
}

export interface FindSuspended {
  readonly accountIds: readonly string[];
}

/** Whether the account of a valid key is suspended; then every request with it is refused. */
export interface AuthenticatedKey extends Principal {
  readonly suspended: boolean;
}

/** The requests that `accounts` handles. */
export const accountsRequests = {
  /**
   * Errors: `unauthenticated`. Reads the row of the key every time, so a revocation takes effect everywhere as soon as
   * it returns. The deadline lies between the 4 s after which the service gives up on unavailable tables and the 5 s
   * within which the gateway must respond.
   */
  authenticate: defineRequest<Authenticate, AuthenticatedKey>('qry.accounts.authenticate.v1', 4_700),
  /**
   * Like `authenticate`, for a key whose secret the sender never had: it holds what was made with the key. No use of the
   * key.
   */
  authenticateId: defineRequest<{ readonly keyId: string }, AuthenticatedKey>(
    'qry.accounts.authenticate-id.v1',
    4_700,
  ),
  /**
   * Whether the account of a credential that another service has found is suspended, as `authenticate` tells it of a key.
   */
  standing: defineRequest<GetStanding, Standing>('qry.accounts.standing.v1', 4_700),
  /** Like `standing`, for many accounts: returns those that are suspended. */
  suspended: defineRequest<FindSuspended, { readonly accountIds: readonly string[] }>(
    'qry.accounts.suspended.v1',
    4_700,
  ),
  /** Whether it is the account of the installation's first start. */
  isFirst: defineRequest<GetStanding, { readonly isFirst: boolean }>('qry.accounts.is-first.v1', 4_700),
  /**
   * Errors: forbidden `missing_scope` with `requiredScope`; invalid `invalid_request` with `fields`; conflict
   * `key_already_minted` with `keyId` when this command has already been handled: the secret is shown once.
   */
  mintKey: defineRequest<MintKey, MintedKey>('cmd.accounts.mint-key.v1'),
  /** Errors: not_found `key_not_found`. Idempotent. */
  revokeKey: defineRequest<RevokeKey, KeyView>('cmd.accounts.revoke-key.v1', 10_000, { whenLost: 'repeat' }),
  /** Newest first, including revoked and expired keys. Errors: invalid `invalid_request` for a bad cursor. */
  listKeys: defineRequest<ListKeys, Page<KeyView>>('qry.accounts.list-keys.v1'),
  /** Errors: invalid `unknown_plan`; conflict `key_already_minted` for a command that was handled already. */
  openAccount: defineRequest<OpenAccount, OpenedAccount>('cmd.accounts.open-account.v1'),
  /**
   * Once a suspension has returned, no call that begins later is accepted with a key of the account. Errors: not_found
   * `account_not_found`; invalid `unknown_plan`; conflict `first_account`. Idempotent.
   */
  updateAccount: defineRequest<UpdateAccount, AccountView>('cmd.accounts.update-account.v1', 10_000, {
    whenLost: 'repeat',
  }),
  /** Errors: not_found `account_not_found`; conflict `key_already_minted`. */
  mintFirstKey: defineRequest<MintFirstKey, MintedKey>('cmd.accounts.mint-first-key.v1'),
  /** Errors: not_found `account_not_found`. */
  getAccount: defineRequest<GetAccount, AccountView>('qry.accounts.get-account.v1'),
  /** Errors: not_found `account_not_found`, `key_not_found`. */
  ownAccount: defineRequest<GetOwnAccount, OwnAccountView>('qry.accounts.own-account.v1'),
  /** The plans that the operator's file must keep. */
  plansInUse: defineRequest<Record<string, never>, PlansInUse>('qry.accounts.plans-in-use.v1'),
  /** Newest first. Errors: invalid `invalid_request` for a bad cursor. */
  listAccounts: defineRequest<PageRequest, Page<AccountView>>('qry.accounts.list-accounts.v1'),
};

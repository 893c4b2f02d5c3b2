import { defineRequest, type CommandEnvelope, type Page } from '@berth/kernel';
import type { NullWhenAbsent, PageRequest } from '../schema/index.js';
import type { MintKeyBody } from './accounts.schemas.js';
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
}

export interface ListKeys extends PageRequest {
  readonly accountId: string;
}

/** The requests that `accounts` handles. */
export const accountsRequests = {
  /**
   * Errors: `unauthenticated`. Reads the row of the key every time, so a revocation takes effect everywhere as soon as
   * it returns. The deadline lies between the 4 s after which the service gives up on unavailable tables and the 5 s
   * within which the gateway must respond.
   */
  authenticate: defineRequest<Authenticate, Principal>('qry.accounts.authenticate.v1', 4_700),
  /**
   * Errors: forbidden `missing_scope` with `requiredScope`; invalid `invalid_request` with `fields`; conflict
   * `key_already_minted` with `keyId` when this command has already been handled: the secret is shown once.
   */
  mintKey: defineRequest<MintKey, MintedKey>('cmd.accounts.mint-key.v1'),
  /** Errors: not_found `key_not_found`. Idempotent. */
  revokeKey: defineRequest<RevokeKey, KeyView>('cmd.accounts.revoke-key.v1', 10_000, { whenLost: 'repeat' }),
  /** Newest first, including revoked and expired keys. Errors: invalid `invalid_request` for a bad cursor. */
  listKeys: defineRequest<ListKeys, Page<KeyView>>('qry.accounts.list-keys.v1'),
};

import { createHash } from 'node:crypto';
import type { Scope } from '@berth/contracts/accounts';
import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { EventLogIdentity } from './event-log-identity.js';

/**
 * A key and the data that authentication needs. The vault stores only the SHA-256 of the key: a key has 256 random bits, so a
 * slower hash would add no security.
 */
export interface KeySecret {
  readonly keyId: string;
  readonly accountId: string;
  /** The whole key, `mk_…`. */
  readonly key: string;
  readonly scopes: readonly Scope[];
  /** ISO 8601. */
  readonly expiresAt: string | null;
}

/** Stores the hashes of keys, which authentication reads. */
@Injectable()
export class KeyVault implements OnModuleInit {
  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    private readonly eventLog: EventLogIdentity,
  ) {}

  /** Assigns the current log to keys that an earlier release stored without one. */
  async onModuleInit(): Promise<void> {
    await this.database.query('UPDATE accounts_vault.key_secrets SET log_id = $1 WHERE log_id IS NULL', [
      this.eventLog.id,
    ]);
  }

  /**
   * Makes a key valid. Returns false, and changes nothing, if `keyId` already has another secret or is revoked; returns
   * true if it already has the same secret.
   */
  async store(secret: KeySecret): Promise<boolean> {
    const rows = await this.database.query(
      `INSERT INTO accounts_vault.key_secrets AS kept (key_id, account_id, key_hash, scopes, expires_at, log_id)
       VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (key_id) DO UPDATE SET key_hash = kept.key_hash WHERE kept.key_hash = excluded.key_hash
       RETURNING key_id`,
      [secret.keyId, secret.accountId, sha256(secret.key), secret.scopes, secret.expiresAt, this.eventLog.id],
    );
    return rows.length > 0;
  }

  /** Deletes every other key with this secret. */
  async forgetOtherHolders({ keyId, key }: Pick<KeySecret, 'keyId' | 'key'>): Promise<void> {
    await this.database.query('DELETE FROM accounts_vault.key_secrets WHERE key_hash = $2 AND key_id <> $1', [
      keyId,
      sha256(key),
    ]);
  }

  /** Whether any valid key of the account has the scope. */
  async holdsUsableKey(accountId: string, scope: Scope): Promise<boolean> {
    const rows = await this.database.query(
      `SELECT 1 FROM accounts_vault.key_secrets
       WHERE account_id = $1 AND $2 = ANY(scopes) AND revoked_at IS NULL
         AND (expires_at IS NULL OR expires_at > now()) AND log_id = $3
       LIMIT 1`,
      [accountId, scope, this.eventLog.id],
    );
    return rows.length > 0;
  }

  /** Replaces the secret of a key unless it is revoked. */
  async replace(secret: KeySecret): Promise<void> {
    await this.database.query(
      'UPDATE accounts_vault.key_secrets SET key_hash = $2 WHERE key_id = $1 AND revoked_at IS NULL',
      [secret.keyId, sha256(secret.key)],
    );
  }

  /** Replaces the scopes of a key unless it is revoked. */
  async setScopes(keyId: string, scopes: readonly Scope[]): Promise<void> {
    await this.database.query(
      `UPDATE accounts_vault.key_secrets SET scopes = $2
       WHERE key_id = $1 AND revoked_at IS NULL AND scopes <> $2`,
      [keyId, scopes],
    );
  }

  /** Revokes a key: once this returns, authentication no longer finds it. Idempotent. */
  async revoke(keyId: string, accountId: string, revokedAt: string): Promise<void> {
    await this.database.query(
      `INSERT INTO accounts_vault.key_secrets (key_id, account_id, scopes, revoked_at, log_id)
       VALUES ($1, $2, '{}', $3, $4)
       ON CONFLICT (key_id) DO UPDATE SET key_hash = NULL, revoked_at = excluded.revoked_at
       WHERE key_secrets.revoked_at IS NULL`,
      [keyId, accountId, revokedAt, this.eventLog.id],
    );
  }
}

const sha256 = (key: string): Buffer => createHash('sha256').update(key).digest();

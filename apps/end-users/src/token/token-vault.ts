import { createHash } from 'node:crypto';
import type { TokenHolder } from '@berth/contracts/end-users';
import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';

export interface TokenSecret extends TokenHolder {
  /** The whole token, `eu_…`. */
  readonly token: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

/** Stores the SHA-256 of each living token: a token has 256 random bits, so a slower hash would add no security. */
@Injectable()
export class TokenVault {
  constructor(@Inject(Database) private readonly database: SqlRunner) {}

  /** Returns false, and changes nothing, if the token has a secret already. Forgets expired ones of the end user. */
  async store(secret: TokenSecret): Promise<boolean> {
    const { tokenId, token, accountId, endUserId, agentId, scopes, expiresAt } = secret;
    await this.database.query(
      'DELETE FROM end_users_vault.token_secrets WHERE end_user_id = $1 AND expires_at <= now()',
      [endUserId],
    );
    const hash = createHash('sha256').update(token).digest();
    const rows = await this.database.query(
      `INSERT INTO end_users_vault.token_secrets
         (token_id, token_hash, account_id, end_user_id, agent_id, scopes, expires_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (token_id) DO NOTHING RETURNING token_id`,
      [tokenId, hash, accountId, endUserId, agentId, scopes, expiresAt],
    );
    return rows.length > 0;
  }

  /** Once this returns, none of these tokens is accepted anywhere. */
  async forget(tokenIds: readonly string[]): Promise<void> {
    await this.database.query('DELETE FROM end_users_vault.token_secrets WHERE token_id = ANY($1)', [
      tokenIds,
    ]);
  }

  async forgetAllOf(endUserId: string): Promise<void> {
    await this.database.query('DELETE FROM end_users_vault.token_secrets WHERE end_user_id = $1', [
      endUserId,
    ]);
  }
}

import type { Authenticate, Principal, Scope } from '@berth/contracts/accounts';
import { DomainError } from '@berth/kernel';
import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { VaultLog } from '../key/vault-log.js';
import { KeyUsage } from './key-usage.js';

interface GoodKey {
  readonly accountId: string;
  readonly keyId: string;
  readonly scopes: readonly Scope[];
}

/**
 * The vault decides, on every request and uncached. The list next to it holds revocations that the log has and
 * the vault does not: a revoke that was cut off in between, or a vault restored from an older backup. A key
 * of another event log belongs to an account that this one does not know.
 */
const FIND_GOOD_KEY = `
  SELECT secret.account_id AS "accountId", secret.key_id AS "keyId", secret.scopes
  FROM accounts_vault.key_secrets secret
  LEFT JOIN key_list listed ON listed.id = secret.key_id
  WHERE secret.key_hash = decode($1, 'hex')
    AND (secret.log_id = $2 OR secret.log_id IS NULL)
    AND secret.revoked_at IS NULL
    AND (secret.expires_at IS NULL OR secret.expires_at > now())
    AND listed.revoked_at IS NULL`;

/** Finds the principal of a key. */
@Injectable()
export class AuthenticateQuery {
  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    private readonly usage: KeyUsage,
    private readonly log: VaultLog,
  ) {}

  /** Throws unauthenticated for an unknown, revoked or expired key: a caller learns no more than that. */
  async run({ keyHash }: Authenticate): Promise<Principal> {
    if (!/^[0-9a-f]{64}$/.test(keyHash)) throw unauthenticated();
    const [found] = await this.database.query<GoodKey>(FIND_GOOD_KEY, [keyHash, this.log.id]);
    if (found === undefined) throw unauthenticated();
    this.usage.seen(found.keyId);
    return found;
  }
}

const unauthenticated = (): DomainError =>
  new DomainError(
    'unauthenticated',
    'unauthenticated',
    'Send a valid API key as Authorization: Bearer mk_….',
  );

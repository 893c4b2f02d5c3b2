import type { Authenticate, AuthenticatedKey } from '@berth/contracts/accounts';
import { DomainError } from '@berth/kernel';
import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { EventLogIdentity } from '../key/event-log-identity.js';
import { IS_SUSPENDED } from '../standing/account-standing.js';
import { KeyUsage } from './key-usage.js';

/**
 * Reads the vault on every request, without a cache. Reads the key list as well, because it has revocations that the vault
 * may lack: a revoke was interrupted, or the vault was restored from an older backup. Excludes keys of another event log,
 * whose accounts do not exist in this one.
 */
const findValidKey = (condition: string): string => `
  SELECT secret.account_id AS "accountId", secret.key_id AS "keyId", secret.scopes,
    ${IS_SUSPENDED} AS suspended
  FROM accounts_vault.key_secrets secret
  LEFT JOIN key_list listed ON listed.id = secret.key_id
  LEFT JOIN account_standing standing ON standing.account_id = secret.account_id
  LEFT JOIN account_list account ON account.id = secret.account_id
  WHERE ${condition}
    AND (secret.log_id = $2 OR secret.log_id IS NULL)
    AND secret.revoked_at IS NULL
    AND (secret.expires_at IS NULL OR secret.expires_at > now())
    AND listed.revoked_at IS NULL`;

const BY_HASH = findValidKey("secret.key_hash = decode($1, 'hex')");
const BY_ID = findValidKey('secret.key_id = $1');

/** Finds the principal of a key. */
@Injectable()
export class AuthenticateQuery {
  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    private readonly usage: KeyUsage,
    private readonly eventLog: EventLogIdentity,
  ) {}

  /** Throws the same unauthenticated error for unknown, revoked and expired keys, so that a caller cannot tell them apart. */
  async run({ keyHash, isRequest = true }: Authenticate): Promise<AuthenticatedKey> {
    if (!/^[0-9a-f]{64}$/.test(keyHash)) throw unauthenticated();
    const found = await this.find(BY_HASH, keyHash);
    if (isRequest && !found.suspended) this.usage.seen(found.keyId);
    return found;
  }

  /** Like `run`, for the id of a key. */
  byId(keyId: string): Promise<AuthenticatedKey> {
    return this.find(BY_ID, keyId);
  }

  private async find(statement: string, key: string): Promise<AuthenticatedKey> {
    const [found] = await this.database.query<AuthenticatedKey>(statement, [key, this.eventLog.id]);
    if (found === undefined) throw unauthenticated();
    return found;
  }
}

const unauthenticated = (): DomainError =>
  new DomainError(
    'unauthenticated',
    'unauthenticated',
    'Send a valid API key as Authorization: Bearer mk_….',
  );

import type { Authenticate, AuthenticatedKey } from '@berth/contracts/accounts';
import { DomainError } from '@berth/kernel';
import { Database, GatheredCalls, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { EventLogIdentity } from '../key/event-log-identity.js';
import { IS_SUSPENDED } from '../standing/account-standing.js';
import { KeyUsage } from './key-usage.js';

/** Most look-ups in one statement. */
const MOST_AT_ONCE = 200;

/**
 * Reads the vault for every request, without a cache. Reads the key list as well, because it has revocations that the vault
 * may lack: a revoke was interrupted, or the vault was restored from an older backup. Excludes keys of another event log,
 * whose accounts do not exist in this one.
 */
const FIND_VALID_KEYS = `
  SELECT encode(secret.key_hash, 'hex') AS "keyHash", secret.account_id AS "accountId", secret.key_id AS "keyId", secret.scopes,
    ${IS_SUSPENDED} AS suspended
  FROM accounts_vault.key_secrets secret
  LEFT JOIN key_list listed ON listed.id = secret.key_id
  LEFT JOIN account_standing standing ON standing.account_id = secret.account_id
  LEFT JOIN account_list account ON account.id = secret.account_id
  WHERE secret.key_hash = ANY(ARRAY(SELECT decode(hash, 'hex') FROM unnest($1::text[]) AS hash))
    AND (secret.log_id = $2 OR secret.log_id IS NULL)
    AND secret.revoked_at IS NULL
    AND (secret.expires_at IS NULL OR secret.expires_at > now())
    AND listed.revoked_at IS NULL`;

/**
 * Finds the principal of a key. Requests that arrive during a look-up share the next one, which begins after all of them, so
 * that each sees every revocation that returned before it.
 */
@Injectable()
export class AuthenticateQuery {
  readonly #found: GatheredCalls<string, AuthenticatedKey | undefined>;

  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    private readonly usage: KeyUsage,
    private readonly eventLog: EventLogIdentity,
  ) {
    this.#found = new GatheredCalls((hashes) => this.findAll(hashes), MOST_AT_ONCE);
  }

  /** Throws the same unauthenticated error for unknown, revoked and expired keys, so that a caller cannot tell them apart. */
  async run({ keyHash, isRequest = true }: Authenticate): Promise<AuthenticatedKey> {
    if (!/^[0-9a-f]{64}$/.test(keyHash)) throw unauthenticated();
    const found = await this.#found.call(keyHash);
    if (found === undefined) throw unauthenticated();
    if (isRequest && !found.suspended) this.usage.seen(found.keyId);
    return found;
  }

  private async findAll(hashes: readonly string[]): Promise<readonly (AuthenticatedKey | undefined)[]> {
    const rows = await this.database.query<AuthenticatedKey & { readonly keyHash: string }>(FIND_VALID_KEYS, [
      [...new Set(hashes)],
      this.eventLog.id,
    ]);
    const keys = new Map(rows.map(({ keyHash, ...key }) => [keyHash, key]));
    return hashes.map((hash) => keys.get(hash));
  }
}

const unauthenticated = (): DomainError =>
  new DomainError(
    'unauthenticated',
    'unauthenticated',
    'Send a valid API key as Authorization: Bearer mk_….',
  );

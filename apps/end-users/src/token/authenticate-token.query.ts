import type { AuthenticatedToken, AuthenticateToken, TokenHolder } from '@berth/contracts/end-users';
import { DomainError } from '@berth/kernel';
import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { IS_SUSPENDED } from '../standing/end-user-standing.js';
import { EndUserActivity } from './end-user-activity.js';
import { RequestRate } from './request-rate.js';

/** Reads the tables on every request, without a cache. */
const FIND = `
  SELECT secret.token_id AS "tokenId", secret.account_id AS "accountId", secret.end_user_id AS "endUserId",
    secret.agent_id AS "agentId", secret.scopes, listed.external_id AS "externalId",
    listed.status = 'deleted' AS deleted, ${IS_SUSPENDED} AS suspended
  FROM end_users_vault.token_secrets secret
  LEFT JOIN end_user_list listed ON listed.id = secret.end_user_id
  LEFT JOIN end_user_standing standing ON standing.end_user_id = secret.end_user_id
  WHERE secret.token_hash = decode($1, 'hex') AND secret.expires_at > now()`;

interface Found extends TokenHolder {
  readonly externalId: string | null;
  /** null while the list does not contain the end user yet. */
  readonly deleted: boolean | null;
  readonly suspended: boolean;
}

/** Finds the holder of a token. */
@Injectable()
export class AuthenticateTokenQuery {
  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    private readonly activity: EndUserActivity,
    private readonly rate: RequestRate,
  ) {}

  /** Throws the same error for unknown, revoked and expired tokens. Errors: see `endUsersRequests.authenticateToken`. */
  async run({ tokenHash, isRequest }: AuthenticateToken): Promise<AuthenticatedToken> {
    if (!/^[0-9a-f]{64}$/.test(tokenHash)) throw unauthenticated();
    const [row] = await this.database.query<Found>(FIND, [tokenHash]);
    if (row === undefined || row.deleted === true) throw unauthenticated();
    const { deleted, suspended, externalId, ...holder } = row;
    if (deleted === null || externalId === null) throw notListed();
    const isCounted = isRequest && !suspended;
    if (isCounted) this.activity.seen(holder.endUserId);
    const retryAfterSeconds = isCounted ? await this.rate.take(holder.endUserId) : null;
    return { ...holder, externalId, suspended, retryAfterSeconds };
  }
}

const unauthenticated = (): DomainError =>
  new DomainError('unauthenticated', 'unauthenticated', 'Send a valid token as Authorization: Bearer eu_….');

/** A token whose end user may be suspended, for all that is known, must not be accepted. */
const notListed = (): DomainError =>
  new DomainError('unavailable', 'service_unavailable', 'The end user cannot be looked up yet. Try again.');

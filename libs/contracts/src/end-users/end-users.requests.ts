import { defineRequest, type CommandEnvelope, type Page } from '@berth/kernel';
import type { NullWhenAbsent } from '../schema/index.js';
import type { MintedToken, TokenHolder, TokenScope } from './end-user-token.js';
import type { EndUserView } from './end-user.view.js';
import type { ListEndUsersQuery, PutEndUserBody } from './end-users.schemas.js';

/** A member that is absent is kept; null clears it. */
export interface PutEndUser extends CommandEnvelope, PutEndUserBody {
  readonly externalId: string;
}

export interface PutEndUserResult {
  readonly endUser: EndUserView;
  readonly created: boolean;
}

export interface EndUserCommand extends CommandEnvelope {
  readonly externalId: string;
}

export interface GetEndUser {
  readonly accountId: string;
  readonly externalId: string;
}

/** `lastActiveBefore` and `lastActiveAfter` are ISO 8601. */
export interface ListEndUsers extends NullWhenAbsent<ListEndUsersQuery> {
  readonly accountId: string;
}

export interface MintToken extends EndUserCommand {
  readonly scopes: readonly TokenScope[];
  readonly ttlSeconds: number;
  /** null: the only agent of the end user. */
  readonly agentId: string | null;
}

export interface AuthenticateToken {
  /** SHA-256 of the whole token (`eu_…`), hex. The token itself never travels. */
  readonly tokenHash: string;
}

/** A deletion lasts until the end user's agents are removed. */
const DELETION_MS = 60_000;

/** The requests that `end-users` handles. Those about one end user: not_found `end_user_not_found`. */
export const endUsersRequests = {
  /** Errors: invalid `invalid_external_id`. */
  put: defineRequest<PutEndUser, PutEndUserResult>('cmd.end-users.put.v1', 10_000, { whenLost: 'repeat' }),
  /** Suspends; repeating it changes nothing. */
  suspend: defineRequest<EndUserCommand, EndUserView>('cmd.end-users.suspend.v1', 10_000, {
    whenLost: 'repeat',
  }),
  /** Ends a suspension; repeating it changes nothing. Wakes no agent. */
  resume: defineRequest<EndUserCommand, EndUserView>('cmd.end-users.resume.v1', 10_000, {
    whenLost: 'repeat',
  }),
  /** Deletes the end user with its agents, and the key of its personal data. */
  delete: defineRequest<EndUserCommand, Record<string, never>>('cmd.end-users.delete.v1', DELETION_MS, {
    whenLost: 'repeat',
  }),
  /**
   * Errors: invalid `agent_id_required`; not_found `agent_not_found`; conflict `too_many_tokens`, `token_already_minted`
   * when this command has already been handled: the token is shown once.
   */
  mintToken: defineRequest<MintToken, MintedToken>('cmd.end-users.mint-token.v1'),
  /** Once it returns, none of the tokens that it counts is accepted. */
  revokeTokens: defineRequest<EndUserCommand, { readonly revoked: number }>(
    'cmd.end-users.revoke-tokens.v1',
    10_000,
    { whenLost: 'repeat' },
  ),
  /**
   * Errors: `unauthenticated`; forbidden `end_user_suspended`. Reads the row of the token every time, so a revocation
   * takes effect everywhere as soon as it returns. The deadline is that of API keys.
   */
  authenticateToken: defineRequest<AuthenticateToken, TokenHolder>(
    'qry.end-users.authenticate-token.v1',
    4_700,
  ),
  get: defineRequest<GetEndUser, EndUserView>('qry.end-users.get.v1'),
  /** Newest first. Errors: invalid `invalid_request` for a malformed cursor. */
  list: defineRequest<ListEndUsers, Page<EndUserView>>('qry.end-users.list.v1'),
};

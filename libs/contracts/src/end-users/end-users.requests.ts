import { defineRequest, type CommandEnvelope, type Page } from '@berth/kernel';
import type { NullWhenAbsent, Policy } from '../schema/index.js';
import type { AuthenticatedToken, MintedToken, TokenScope } from './end-user-token.js';
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

/** The end user who has an external id, perhaps one who is not created yet. */
export interface EnlistedEndUser {
  readonly endUserId: string;
  /** The key of its personal data, base64 of 32 bytes. A secret. */
  readonly key: string;
}

export interface CreateEnlisted extends EndUserCommand {
  /** The id that `enlist` returned. */
  readonly endUserId: string;
}

/** `key` is base64 of 32 bytes, a secret; null if the end user is deleted. */
export interface PersonalKeyView {
  readonly key: string | null;
}

/** Asks for the keys of several end users. */
export interface FindPersonalKeys {
  readonly accountId: string;
  readonly endUserIds: readonly string[];
}

/** The key of one end user, 32 bytes in base64. */
export interface FoundPersonalKey {
  readonly endUserId: string;
  readonly key: string;
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

export interface SetPolicy extends EndUserCommand {
  readonly policy: Policy;
}

/** The policy that an end user has of its own. */
export interface EndUserPolicy {
  readonly externalId: string;
  readonly policy: Policy | null;
}

export interface SetDefaults extends CommandEnvelope {
  readonly policy: Policy;
}

export interface AuthenticateToken {
  /** SHA-256 of the whole token (`eu_…`), hex. The token itself never travels. */
  readonly tokenHash: string;
  /** Whether a request was made with it, which counts; false: its open streams ask whether it is still valid. */
  readonly isRequest: boolean;
}

/** Asks for end users by either of their ids. */
export interface FindEndUsers {
  readonly accountId: string;
  readonly endUserIds: readonly string[];
  readonly externalIds: readonly string[];
}

/** The two ids of an end user; the external id is personal data. */
export interface EndUserIds {
  readonly endUserId: string;
  readonly externalId: string;
}

/** A deletion lasts until the end user's agents are removed. */
const DELETION_MS = 60_000;

/** The requests that `end-users` handles. Those about one end user: not_found `end_user_not_found`. */
export const endUsersRequests = {
  /** Errors: invalid `invalid_external_id`. */
  put: defineRequest<PutEndUser, PutEndUserResult>('cmd.end-users.put.v1', 10_000, { whenLost: 'repeat' }),
  /**
   * Returns the id of the end user that will own a new resource, with the key that seals its personal data. An unknown end
   * user is not created yet, so that a refused creation leaves none behind. Errors: invalid `invalid_external_id`.
   */
  enlist: defineRequest<EndUserCommand, EnlistedEndUser>('cmd.end-users.enlist.v1', undefined, {
    whenLost: 'repeat',
  }),
  /** Creates an enlisted end user unless it exists. Errors: not_found `end_user_not_found` if it has been deleted. */
  createEnlisted: defineRequest<CreateEnlisted, Record<string, never>>(
    'cmd.end-users.create-enlisted.v1',
    undefined,
    { whenLost: 'repeat' },
  ),
  /** The key of an end user's personal data, for services that hold such data. */
  personalKey: defineRequest<{ readonly endUserId: string }, PersonalKeyView>(
    'qry.end-users.personal-key.v1',
  ),
  /** The keys of those of the account's end users that exist, for one reading of their data: callers keep none. */
  personalKeys: defineRequest<FindPersonalKeys, { readonly items: readonly FoundPersonalKey[] }>(
    'qry.end-users.personal-keys.v1',
  ),
  /** Suspends; repeating it changes nothing. Once it returns, no token of the end user is accepted. */
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
  /** Replaces the whole policy. `agentsUpdated` counts the agents that the end user has now. */
  setPolicy: defineRequest<SetPolicy, EndUserPolicy & { readonly agentsUpdated: number }>(
    'cmd.end-users.set-policy.v1',
    10_000,
    { whenLost: 'repeat' },
  ),
  /** Changes nothing when the end user has no policy. */
  deletePolicy: defineRequest<EndUserCommand, Record<string, never>>(
    'cmd.end-users.delete-policy.v1',
    10_000,
    { whenLost: 'repeat' },
  ),
  /** The opaque id of an end user, `eus_…`. */
  identify: defineRequest<GetEndUser, { readonly endUserId: string }>('qry.end-users.identify.v1'),
  /** The policy of every end user of the account who has none of its own. */
  setDefaults: defineRequest<SetDefaults, { readonly policy: Policy }>(
    'cmd.end-users.set-defaults.v1',
    10_000,
    { whenLost: 'repeat' },
  ),
  deleteDefaults: defineRequest<CommandEnvelope, Record<string, never>>(
    'cmd.end-users.delete-defaults.v1',
    10_000,
    { whenLost: 'repeat' },
  ),
  getDefaults: defineRequest<{ readonly accountId: string }, { readonly policy: Policy | null }>(
    'qry.end-users.get-defaults.v1',
  ),
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
  /** Somebody uses an agent of the end user now, which `lastActiveAt` shows to the minute. */
  noteActivity: defineRequest<{ readonly endUserId: string }, Record<string, never>>(
    'cmd.end-users.note-activity.v1',
    5_000,
    { whenLost: 'report' },
  ),
  /**
   * Errors: `unauthenticated`. Reads the row of the token every time, so a revocation takes effect everywhere as soon as
   * it returns. Requests are counted per end user, by all gateways together. The deadline is that of API keys.
   */
  authenticateToken: defineRequest<AuthenticateToken, AuthenticatedToken>(
    'qry.end-users.authenticate-token.v1',
    4_700,
  ),
  /** The requested end users that exist, in any order. */
  findIds: defineRequest<FindEndUsers, { readonly items: readonly EndUserIds[] }>(
    'qry.end-users.find-ids.v1',
  ),
  get: defineRequest<GetEndUser, EndUserView>('qry.end-users.get.v1'),
  /** Newest first. Errors: invalid `invalid_request` for a malformed cursor. */
  list: defineRequest<ListEndUsers, Page<EndUserView>>('qry.end-users.list.v1'),
};

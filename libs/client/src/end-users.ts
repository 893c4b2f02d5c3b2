import { jsonBody } from './body.js';
import type { CallOptions } from './config.js';
import type { PagePromise } from './page.js';
import type { QueryOf } from './query-types.js';
import { Resource } from './resource.js';
import type {
  Agent,
  AppliedPolicy,
  CreateAgentOfEndUserBody,
  EndUser,
  EndUserDefaults,
  EndUserDetail,
  EndUserPolicy,
  MintedToken,
  MintTokenBody,
  Policy,
  PutEndUserBody,
  RevokedTokens,
} from './types.js';
import { route } from './values.js';

/** Filters and the page of `endUsers.list`. */
export type ListEndUsers = QueryOf<'/api/v1/end-users'>;

/** `berth.endUsers` */
export class EndUsers extends Resource {
  /** Creates or changes an end user: `PUT /api/v1/end-users/{externalId}`. What is left out is kept; null clears it. */
  async put(externalId: string, endUser: PutEndUserBody = {}, options?: CallOptions): Promise<EndUser> {
    const body = jsonBody(endUser);
    return this.transport.object(
      { method: 'PUT', path: route`/api/v1/end-users/${externalId}`, body },
      options,
    );
  }

  /** Lists end users, newest first: `GET /api/v1/end-users`. */
  list(query: ListEndUsers = {}, options?: CallOptions): PagePromise<EndUser> {
    return this.pages(() => '/api/v1/end-users', options, query);
  }

  /** Returns an end user with its agents and what it spent: `GET /api/v1/end-users/{externalId}`. */
  async get(externalId: string, options?: CallOptions): Promise<EndUserDetail> {
    return this.read(route`/api/v1/end-users/${externalId}`, options);
  }

  /** Deletes an end user with its agents, computers and tokens: `DELETE /api/v1/end-users/{externalId}`. */
  async delete(externalId: string, options?: CallOptions): Promise<void> {
    return this.transport.nothing(
      { method: 'DELETE', path: route`/api/v1/end-users/${externalId}` },
      options,
    );
  }

  /** Suspends an end user: its agents and computers fall asleep, and nothing wakes them. */
  async suspend(externalId: string, options?: CallOptions): Promise<EndUser> {
    return this.transport.object(
      { method: 'POST', path: route`/api/v1/end-users/${externalId}/suspend` },
      options,
    );
  }

  /** Ends the suspension of an end user. Wakes nobody. */
  async resume(externalId: string, options?: CallOptions): Promise<EndUser> {
    return this.transport.object(
      { method: 'POST', path: route`/api/v1/end-users/${externalId}/resume` },
      options,
    );
  }

  /** Lists all agents of an end user: `GET /api/v1/end-users/{externalId}/agents`. */
  agents(externalId: string, options?: CallOptions): PagePromise<Agent> {
    return this.pages(() => route`/api/v1/end-users/${externalId}/agents`, options);
  }

  /** Returns the agent of an end user, and creates both if needed: `POST /api/v1/end-users/{externalId}/agents`. */
  async createAgent(
    externalId: string,
    agent: CreateAgentOfEndUserBody,
    options?: CallOptions,
  ): Promise<Agent> {
    const path = route`/api/v1/end-users/${externalId}/agents`;
    return this.transport.object({ method: 'POST', path, body: jsonBody(agent) }, options);
  }

  /** Mints a token for one agent of an end user, valid for `ttlSeconds`: `POST /api/v1/end-users/{externalId}/tokens`. */
  async createToken(
    externalId: string,
    token: MintTokenBody = {},
    options?: CallOptions,
  ): Promise<MintedToken> {
    const path = route`/api/v1/end-users/${externalId}/tokens`;
    return this.transport.object({ method: 'POST', path, body: jsonBody(token) }, options);
  }

  /** Revokes all tokens of an end user, and says how many: `DELETE /api/v1/end-users/{externalId}/tokens`. */
  async revokeTokens(externalId: string, options?: CallOptions): Promise<RevokedTokens> {
    const path = route`/api/v1/end-users/${externalId}/tokens`;
    return this.transport.object({ method: 'DELETE', path }, options, { revoked: 0 } as RevokedTokens);
  }

  /** The policy of an end user; `policy` is null without one of its own. */
  async getPolicy(externalId: string, options?: CallOptions): Promise<EndUserPolicy> {
    return this.read(route`/api/v1/end-users/${externalId}/policy`, options);
  }

  /** Replaces the whole policy of an end user, for all its agents: `PUT /api/v1/end-users/{externalId}/policy`. */
  async setPolicy(externalId: string, policy: Policy, options?: CallOptions): Promise<AppliedPolicy> {
    const path = route`/api/v1/end-users/${externalId}/policy`;
    return this.transport.object({ method: 'PUT', path, body: jsonBody({ policy }) }, options);
  }

  /** Removes the policy of an end user, for whom the default then holds. */
  async deletePolicy(externalId: string, options?: CallOptions): Promise<void> {
    const path = route`/api/v1/end-users/${externalId}/policy`;
    return this.transport.nothing({ method: 'DELETE', path }, options);
  }

  /** The policy of all end users who have none of their own: `GET /api/v1/end-user-defaults`. */
  async getDefaults(options?: CallOptions): Promise<EndUserDefaults> {
    return this.read('/api/v1/end-user-defaults', options);
  }

  /** Sets the policy of all end users who have none of their own: `PUT /api/v1/end-user-defaults`. */
  async setDefaults(policy: Policy, options?: CallOptions): Promise<EndUserDefaults> {
    const body = jsonBody({ policy });
    return this.transport.object({ method: 'PUT', path: '/api/v1/end-user-defaults', body }, options);
  }

  /** Removes that policy: `DELETE /api/v1/end-user-defaults`. */
  async deleteDefaults(options?: CallOptions): Promise<void> {
    return this.transport.nothing({ method: 'DELETE', path: '/api/v1/end-user-defaults' }, options);
  }
}

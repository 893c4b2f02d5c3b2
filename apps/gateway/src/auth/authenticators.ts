import { accountsRequests, type AuthenticatedKey } from '@berth/contracts/accounts';
import { agentTokenRequests } from '@berth/contracts/agents';
import { endUsersRequests } from '@berth/contracts/end-users';
import { asLookUpFailure, Requester } from '@berth/messaging';
import { Injectable } from '@nestjs/common';
import { HttpRefusal, unauthenticated } from '../http/http-refusal.js';
import type { Credential } from './credentials.js';
import type { Principal, PrincipalKind } from './principal.js';

/** Longer than a lookup takes to fail while Postgres does not respond, and short enough for a 503 within 5 s. */
export const LOOKUP_WITHIN_MS = 4_600;

/** 403: the credential is valid, but its holder is suspended. */
export class HolderSuspended extends HttpRefusal {
  constructor(
    readonly principal: Principal,
    code: 'account_suspended' | 'end_user_suspended',
    message: string,
  ) {
    super(403, code, message);
  }
}

export const accountSuspended = (principal: Principal): HolderSuspended =>
  new HolderSuspended(
    principal,
    'account_suspended',
    'The account is suspended. Ask the operator of this installation to resume it.',
  );

export const endUserSuspended = (principal: Principal): HolderSuspended =>
  new HolderSuspended(principal, 'end_user_suspended', 'The end user is suspended.');

/** Why a credential is looked up. */
export interface Lookup {
  /** Whether a request was made with it; false for its open sockets and streams. */
  readonly isRequest: boolean;
  /** By default as long as a request may wait for it. */
  readonly deadlineMs?: number;
}

/** Looks up credentials of one kind. */
export interface Authenticator {
  readonly kind: PrincipalKind;
  /** Errors: `unauthenticated`, `HolderSuspended`, or those of the service that looks it up. */
  authenticate(credential: Credential, lookup: Required<Lookup>): Promise<Principal>;
}

/** API keys, looked up by their hash in `accounts`. */
@Injectable()
export class KeyAuthenticator implements Authenticator {
  readonly kind = 'key';

  constructor(private readonly requester: Requester) {}

  async authenticate(
    { hash: keyHash }: Credential,
    { isRequest, deadlineMs }: Required<Lookup>,
  ): Promise<Principal> {
    return principalOf(
      await this.requester.request(accountsRequests.authenticate, { keyHash, isRequest }, { deadlineMs }),
    );
  }

  /** The holder of a key that is known by its id. Errors: as `authenticate`. */
  async authenticateId(keyId: string, deadlineMs: number): Promise<Principal> {
    return principalOf(
      await this.requester.request(accountsRequests.authenticateId, { keyId }, { deadlineMs }),
    );
  }
}

const principalOf = ({ suspended, ...holder }: AuthenticatedKey): Principal => {
  const principal: Principal = { kind: 'key', ...holder };
  if (suspended) throw accountSuspended(principal);
  return principal;
};

/** Tokens of end users, looked up by their hash in `end-users`; `accounts` knows whether their account is suspended. */
@Injectable()
export class EndUserAuthenticator implements Authenticator {
  readonly kind = 'end_user';

  constructor(private readonly requester: Requester) {}

  async authenticate(
    { hash: tokenHash }: Credential,
    { isRequest, deadlineMs }: Required<Lookup>,
  ): Promise<Principal> {
    const until = performance.now() + deadlineMs;
    const { suspended: isBarred, ...holder } = await this.requester.request(
      endUsersRequests.authenticateToken,
      { tokenHash, isRequest },
      { deadlineMs },
    );
    const { accountId } = holder;
    const left = { deadlineMs: Math.max(1, until - performance.now()) };
    const { suspended } = await this.requester.request(accountsRequests.standing, { accountId }, left);
    const principal: Principal = { kind: 'end_user', ...holder };
    if (suspended) throw accountSuspended(principal);
    if (isBarred) throw endUserSuspended(principal);
    return principal;
  }
}

/** Tokens of agents, which `agents` derives from the start that they name. */
@Injectable()
export class AgentAuthenticator implements Authenticator {
  readonly kind = 'agent';

  constructor(private readonly requester: Requester) {}

  async authenticate(
    { hash: tokenHash, start }: Credential,
    { deadlineMs }: Required<Lookup>,
  ): Promise<Principal> {
    if (start === undefined) throw unauthenticated();
    const { suspended, ...holder } = await this.requester.request(
      agentTokenRequests.authenticate,
      { ...start, tokenHash },
      { deadlineMs },
    );
    const principal: Principal = { kind: 'agent', ...holder };
    if (suspended === 'account_suspended') throw accountSuspended(principal);
    if (suspended === 'end_user_suspended') throw endUserSuspended(principal);
    return principal;
  }
}

/** One authenticator for each kind of credential that this installation issues. */
@Injectable()
export class Authenticators {
  readonly #byKind: ReadonlyMap<PrincipalKind, Authenticator>;

  constructor(
    private readonly keys: KeyAuthenticator,
    endUsers: EndUserAuthenticator,
    agents: AgentAuthenticator,
  ) {
    const issued: readonly Authenticator[] = [keys, endUsers, agents];
    this.#byKind = new Map(issued.map((one) => [one.kind, one]));
  }

  /**
   * Returns the principal of a credential; looks it up every time, so that a revocation takes effect immediately.
   * Errors: 401 for anything but a valid credential, unavailable `service_unavailable`.
   */
  async authenticate(
    credential: Credential | undefined,
    { isRequest, deadlineMs = LOOKUP_WITHIN_MS }: Lookup,
  ): Promise<Principal> {
    const authenticator = credential === undefined ? undefined : this.#byKind.get(credential.kind);
    if (credential === undefined || authenticator === undefined) throw unauthenticated();
    try {
      return await authenticator.authenticate(credential, { isRequest, deadlineMs });
    } catch (error) {
      throw asLookUpFailure(error);
    }
  }

  /** Like `authenticate`, for a key that is known by its id: what was made with it is good as long as the key. */
  async authenticateKeyId(keyId: string, deadlineMs = LOOKUP_WITHIN_MS): Promise<Principal> {
    try {
      return await this.keys.authenticateId(keyId, deadlineMs);
    } catch (error) {
      throw asLookUpFailure(error);
    }
  }
}

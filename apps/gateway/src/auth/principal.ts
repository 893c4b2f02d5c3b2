import type { Scope } from '@berth/contracts/accounts';
import type { AuthenticatedToken } from '@berth/contracts/end-users';
import type { Actor } from '@berth/kernel';

/** The holder of an API key (`mk_…`). */
export interface KeyPrincipal {
  readonly kind: 'key';
  readonly accountId: string;
  readonly keyId: string;
  readonly scopes: readonly Scope[];
}

/** The holder of an end user's token (`eu_…`), which reaches one agent. */
export interface EndUserPrincipal extends Omit<AuthenticatedToken, 'suspended'> {
  readonly kind: 'end_user';
}

/** A running agent, by the token of its current start (`at_…`). */
export interface AgentPrincipal {
  readonly kind: 'agent';
  readonly accountId: string;
  readonly agentId: string;
}

/** A caller of an agent's webhook, by the agent's invoke token (`wh_…`) or without one. */
export interface WebhookPrincipal {
  readonly kind: 'webhook';
  readonly accountId: string;
  readonly agentId: string;
  /** null without a token. */
  readonly tokenId: string | null;
}

/** The authenticated caller of a request. Each kind has its own credential and its own authenticator. */
export type Principal = KeyPrincipal | EndUserPrincipal | AgentPrincipal | WebhookPrincipal;
export type PrincipalKind = Principal['kind'];

/** The id of the credential. */
export const credentialIdOf = (principal: Principal): string => {
  switch (principal.kind) {
    case 'key':
      return principal.keyId;
    case 'end_user':
      return principal.tokenId;
    case 'webhook':
      // All calls of an agent's webhook without a token count as one caller.
      return principal.tokenId ?? principal.agentId;
    case 'agent':
      return principal.agentId;
  }
};

/** The scope of idempotency keys. Not the token: an end user may repeat a request with a newer one. */
export const callerIdOf = (principal: Principal): string =>
  principal.kind === 'end_user' ? `${principal.endUserId} ${principal.agentId}` : credentialIdOf(principal);

/** The caller, as event metadata and the audit record it. Calls with a token act as its end user. */
export const actorOf = (principal: Principal): Actor => ({
  kind: principal.kind,
  id: principal.kind === 'end_user' ? principal.endUserId : credentialIdOf(principal),
});

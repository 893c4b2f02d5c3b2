import type { Scope } from '@berth/contracts/accounts';
import type { TokenScope } from '@berth/contracts/end-users';
import { HttpRefusal, unauthenticated } from '../http/http-refusal.js';
import type { Principal } from './principal.js';

/**
 * The kinds of principals that a route accepts, and what each of them needs. An absent kind is rejected; `read` is
 * held by every key.
 */
export interface AcceptedPrincipals {
  readonly key?: Scope | readonly Scope[];
  /** One scope of the token, or `any`. */
  readonly end_user?: TokenScope | 'any';
  readonly agent?: true;
  readonly webhook?: true;
  /** Requests without any credential are accepted too. */
  readonly anonymous?: true;
}

/** Who may call a route. `anyone`: credentials are ignored. */
export type Access = 'anyone' | AcceptedPrincipals;

/** The scopes that a key needs, in the order in which they are checked. */
export const keyScopesOf = (access: Access): readonly Scope[] => {
  if (access === 'anyone' || access.key === undefined) return [];
  return typeof access.key === 'string' ? [access.key] : access.key;
};

/** Why `principal` may not call a route that accepts `access`; undefined if it may. */
export const accessRefusal = (principal: Principal, access: AcceptedPrincipals): HttpRefusal | undefined => {
  switch (principal.kind) {
    case 'key': {
      if (access.key === undefined) return unauthenticated();
      const missing = keyScopesOf(access).find((scope) => !holdsScope(principal, scope));
      return missing === undefined ? undefined : missingScope(missing);
    }
    case 'end_user':
      return endUserRefusal(principal.scopes, access);
    case 'agent':
    case 'webhook':
      return access[principal.kind] === true ? undefined : unauthenticated();
  }
};

const endUserRefusal = (
  held: readonly TokenScope[],
  { end_user: needed, agent }: AcceptedPrincipals,
): HttpRefusal | undefined => {
  if (needed === undefined && agent === true) return unauthenticated();
  const isCovered = needed === 'any' || (needed !== undefined && held.includes(needed));
  return isCovered ? undefined : tokenScope();
};

/** Whether the principal is a key that holds `scope`. */
export const holdsScope = (principal: Principal | null, scope: Scope): boolean =>
  principal?.kind === 'key' && (scope === 'read' || principal.scopes.includes(scope));

/** Throws 403 if the principal is an end user whose token lacks `scope`, which only some requests to a route need. */
export const requireTokenScope = (principal: Principal, scope: TokenScope): void => {
  if (principal.kind === 'end_user' && !principal.scopes.includes(scope)) throw tokenScope();
};

/** 403 with the scope that the key lacks. */
export const missingScope = (scope: Scope): HttpRefusal =>
  new HttpRefusal(403, 'missing_scope', `This needs a key with the scope ${scope}.`, {
    requiredScope: scope,
  });

const tokenScope = (): HttpRefusal =>
  new HttpRefusal(403, 'token_scope', 'The scopes of this token do not include this route.');

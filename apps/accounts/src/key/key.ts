import type { KeyView, Scope } from '@berth/contracts/accounts';

/** The facts of a key; only `scopes` can change. The hash of its secret is in the vault, not here. Times are ISO 8601. */
export interface KeyFacts {
  readonly keyId: string;
  readonly accountId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: string | null;
  readonly mintedAt: string;
}

export interface KeyMinted extends KeyFacts {
  readonly type: 'KeyMinted';
}

export interface KeyRevoked {
  readonly type: 'KeyRevoked';
  readonly keyId: string;
  readonly accountId: string;
  readonly revokedAt: string;
}

/** The key holds these scopes from now on: all that it had, and more. */
export interface KeyScopesExtended {
  readonly type: 'KeyScopesExtended';
  readonly keyId: string;
  readonly accountId: string;
  readonly scopes: readonly Scope[];
  readonly extendedAt: string;
}

export type KeyEvent = KeyMinted | KeyScopesExtended | KeyRevoked;

export type KeyState =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'live'; readonly key: KeyFacts }
  | { readonly kind: 'revoked'; readonly key: KeyFacts; readonly revokedAt: string };

export const evolveKey = (state: KeyState, event: KeyEvent): KeyState => {
  switch (event.type) {
    case 'KeyMinted': {
      const { type: _, ...key } = event;
      return { kind: 'live', key };
    }
    case 'KeyScopesExtended':
      return state.kind === 'unknown' ? state : { ...state, key: { ...state.key, scopes: event.scopes } };
    case 'KeyRevoked':
      return state.kind === 'unknown'
        ? state
        : { kind: 'revoked', key: state.key, revokedAt: event.revokedAt };
  }
};

/** The key as the API shows it; null for one that does not exist. */
export const viewOfKey = (state: KeyState, lastUsedAt: string | null): KeyView | null =>
  state.kind === 'unknown'
    ? null
    : {
        id: state.key.keyId,
        name: state.key.name,
        scopes: state.key.scopes,
        accountId: state.key.accountId,
        createdAt: state.key.mintedAt,
        lastUsedAt,
        expiresAt: state.key.expiresAt,
        revokedAt: state.kind === 'revoked' ? state.revokedAt : null,
      };

/**
 * Every key has `read`. `operate` permits the requests that concern the whole installation; only keys of the first
 * account can hold it.
 */
export const SCOPES = ['read', 'deploy', 'manage', 'computers', 'operate'] as const;
export type Scope = (typeof SCOPES)[number];

/** The scopes of the first key of an account that an operator opens: every scope but `operate`. */
export const FIRST_KEY_SCOPES: readonly Scope[] = ['read', 'deploy', 'manage', 'computers'];

/** The plan of accounts for which no other was chosen. It limits nothing. */
export const DEFAULT_PLAN = 'default';

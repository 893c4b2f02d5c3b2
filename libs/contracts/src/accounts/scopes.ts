/**
 * Every key has `read`. `operate` permits the requests that concern the whole installation; only keys of the first
 * account can hold it.
 */
export const SCOPES = ['read', 'deploy', 'manage', 'computers', 'operate'] as const;
export type Scope = (typeof SCOPES)[number];

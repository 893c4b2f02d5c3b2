/** The permissions that a token gives its holder on the token's agent. */
export const TOKEN_SCOPES = ['chat', 'files', 'console', 'logs', 'app'] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

/** A new token and its properties. Times are ISO 8601. */
export interface MintedToken {
  /** `eu_` + 256 random bits. No other response contains it. */
  readonly token: string;
  readonly tokenId: string;
  readonly externalId: string;
  readonly agentId: string;
  readonly scopes: readonly TokenScope[];
  readonly ttlSeconds: number;
  readonly expiresAt: string;
}

/** The caller behind a valid token. */
export interface TokenHolder {
  readonly accountId: string;
  /** `eus_…`. */
  readonly endUserId: string;
  readonly tokenId: string;
  /** The only agent that the token reaches. */
  readonly agentId: string;
  readonly scopes: readonly TokenScope[];
}

/** The holder of a valid token, as the gateway needs it. */
export interface AuthenticatedToken extends TokenHolder {
  /** Personal data: for the agent's own program only, never for logs. */
  readonly externalId: string;
  /** Whether the end user is suspended, so that everything is refused. */
  readonly suspended: boolean;
  /** Whole seconds until the end user may send further requests; null within its rate. */
  readonly retryAfterSeconds: number | null;
}

import type { TokenScope } from '@berth/contracts/end-users';
import { DomainError, isoTime, type Decider } from '@berth/kernel';

/** Times are ISO 8601. */
export interface TokenMinted {
  readonly type: 'EndUserTokenMinted';
  readonly endUserId: string;
  readonly accountId: string;
  readonly tokenId: string;
  readonly agentId: string;
  readonly scopes: readonly TokenScope[];
  readonly mintedAt: string;
  readonly expiresAt: string;
}

export interface TokensRevoked {
  readonly type: 'EndUserTokensRevoked';
  readonly endUserId: string;
  readonly accountId: string;
  readonly tokenIds: readonly string[];
  readonly revokedAt: string;
}

export type TokenEvent = TokenMinted | TokensRevoked;

/** The tokens of one end user that are not revoked; an expired one stays until the next is minted. */
export interface Tokens {
  readonly kept: readonly { readonly tokenId: string; readonly expiresAt: string }[];
}

/** `now`: milliseconds since the Unix epoch. */
export type TokenCommand =
  | {
      readonly type: 'Mint';
      readonly endUserId: string;
      readonly accountId: string;
      readonly tokenId: string;
      readonly agentId: string;
      readonly scopes: readonly TokenScope[];
      readonly ttlSeconds: number;
      readonly now: number;
    }
  | {
      readonly type: 'RevokeAll';
      readonly endUserId: string;
      readonly accountId: string;
      readonly now: number;
    };

const MAX_LIVING = 1_000;

const livingAt = ({ kept }: Tokens, at: string): Tokens['kept'] =>
  kept.filter(({ expiresAt }) => expiresAt > at);

const mint = (
  { ttlSeconds, now, ...token }: Extract<TokenCommand, { type: 'Mint' }>,
  state: Tokens,
): readonly TokenEvent[] => {
  const mintedAt = isoTime(now);
  if (livingAt(state, mintedAt).length >= MAX_LIVING)
    throw new DomainError(
      'conflict',
      'too_many_tokens',
      'Revoke the tokens of the end user, or wait until some expire.',
    );
  return [{ ...token, type: 'EndUserTokenMinted', mintedAt, expiresAt: isoTime(now + ttlSeconds * 1_000) }];
};

export const tokensDecider: Decider<Tokens, TokenCommand, TokenEvent> = {
  initial: { kept: [] },
  decide: (command, state) => {
    if (command.type === 'Mint') return mint(command, state);
    const { endUserId, accountId, now } = command;
    const revokedAt = isoTime(now);
    const tokenIds = livingAt(state, revokedAt).map(({ tokenId }) => tokenId);
    return tokenIds.length === 0
      ? []
      : [{ type: 'EndUserTokensRevoked', endUserId, accountId, tokenIds, revokedAt }];
  },
  evolve: (state, event) => {
    if (event.type === 'EndUserTokensRevoked') return { kept: [] };
    const { tokenId, expiresAt, mintedAt } = event;
    return { kept: [...livingAt(state, mintedAt), { tokenId, expiresAt }] };
  },
};

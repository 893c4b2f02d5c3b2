import { randomBytes } from 'node:crypto';
import type { EndUserCommand, MintedToken, MintToken } from '@berth/contracts/end-users';
import { Clock, deriveId, DomainError, SECRET_PREFIXES } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { AgentsOfEndUser } from '../agents-of-end-user.js';
import { EndUserWrites } from '../end-user/end-user-writes.js';
import { TokenStreams } from './token.streams.js';
import { TokenVault } from './token-vault.js';

const SECRET_BYTES = 32;

@Injectable()
export class TokenCommandHandler {
  constructor(
    private readonly endUsers: EndUserWrites,
    private readonly agents: AgentsOfEndUser,
    private readonly streams: TokenStreams,
    private readonly vault: TokenVault,
    private readonly clock: Clock,
  ) {}

  /** Writes the log first, then the vault. If it is interrupted in between, the token was never returned. */
  async mint(command: MintToken): Promise<MintedToken> {
    const { accountId, externalId, scopes, ttlSeconds } = command;
    const { endUserId } = await this.endUsers.load(accountId, externalId);
    const agentId = await this.agentOf(command, endUserId);
    const tokenId = deriveId('tok', command.commandId);
    const decided = { endUserId, accountId, tokenId, agentId, scopes, ttlSeconds, now: this.clock.now() };
    const { events } = await this.streams.handle(endUserId, { type: 'Mint', ...decided }, command);
    const [minted] = events;
    if (minted?.type !== 'EndUserTokenMinted') throw alreadyMinted(tokenId);
    const token = `${SECRET_PREFIXES.endUserToken}_${randomBytes(SECRET_BYTES).toString('hex')}`;
    if (!(await this.vault.store({ ...minted, token }))) throw alreadyMinted(tokenId);
    await this.forgetIfRevoked(endUserId, tokenId);
    const { expiresAt } = minted;
    return {
      token,
      tokenId,
      externalId,
      agentId: minted.agentId,
      scopes: minted.scopes,
      ttlSeconds,
      expiresAt,
    };
  }

  /** Once this returns, the tokens are rejected everywhere. A repeated command revokes what its first attempt revoked. */
  async revokeAll(command: EndUserCommand): Promise<{ readonly revoked: number }> {
    const { accountId, externalId } = command;
    const { endUserId } = await this.endUsers.load(accountId, externalId);
    const now = this.clock.now();
    const { events } = await this.streams.handle(
      endUserId,
      { type: 'RevokeAll', endUserId, accountId, now },
      command,
    );
    const tokenIds = events.flatMap((event) => (event.type === 'EndUserTokensRevoked' ? event.tokenIds : []));
    await this.vault.forget(tokenIds);
    return { revoked: tokenIds.length };
  }

  /** A revocation may have emptied the vault before the token was stored there; that token was never returned. */
  private async forgetIfRevoked(endUserId: string, tokenId: string): Promise<void> {
    const { state } = await this.streams.load(endUserId);
    if (state.kept.some((kept) => kept.tokenId === tokenId)) return;
    await this.vault.forget([tokenId]);
    throw new DomainError(
      'conflict',
      'token_already_minted',
      'The token was revoked at once. Mint another.',
      { tokenId },
    );
  }

  private async agentOf({ accountId, externalId, agentId }: MintToken, endUserId: string): Promise<string> {
    const agents = await this.agents.list({ accountId, endUserId, externalId });
    const [only] = agents;
    if (only === undefined || (agentId !== null && !agents.some(({ id }) => id === agentId)))
      throw new DomainError('not_found', 'agent_not_found', 'The end user has no such agent.');
    if (agentId !== null) return agentId;
    if (agents.length > 1)
      throw new DomainError(
        'invalid',
        'agent_id_required',
        'The end user has more than one agent: send agentId.',
      );
    return only.id;
  }
}

const alreadyMinted = (tokenId: string): DomainError =>
  new DomainError('conflict', 'token_already_minted', 'The token is shown only once. Mint another.', {
    tokenId,
  });

import { join } from 'node:path';
import { decideGiven } from '@berth/kernel';
import { describeGoldenEvents } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { tokenCodec, toTokenContractEvent } from './token.events.js';
import { tokensDecider, type TokenEvent } from './tokens.decider.js';

describeGoldenEvents(join(import.meta.dirname, '__events__'), tokenCodec, {
  EndUserTokenMinted: true,
  EndUserTokensRevoked: true,
});

const about = { endUserId: 'eus_1', accountId: 'acc_1' };
const now = Date.UTC(2026, 10, 23, 8);
const mint = (tokenId: string, at = now) =>
  ({ type: 'Mint', ...about, tokenId, agentId: 'agt_1', scopes: ['chat'], ttlSeconds: 60, now: at }) as const;
const revoke = (at = now) => ({ type: 'RevokeAll', ...about, now: at }) as const;
const minted = (count: number): readonly TokenEvent[] =>
  Array.from(
    { length: count },
    (_, n) => decideGiven(tokensDecider, [], mint(`tok_${String(n)}`)).events,
  ).flat();

describe('the tokens of an end user', () => {
  it('expire after their time to live', () => {
    expect(minted(1)).toMatchObject([
      { tokenId: 'tok_0', mintedAt: '2026-11-23T08:00:00.000Z', expiresAt: '2026-11-23T08:01:00.000Z' },
    ]);
  });

  it('are at most 1,000, of which expired ones do not count', () => {
    expect(decideGiven(tokensDecider, minted(999), mint('last')).events).toHaveLength(1);
    const full = minted(1_000);
    expect(decideGiven(tokensDecider, full, mint('more'))).toMatchObject({
      events: [],
      refusal: { kind: 'conflict', code: 'too_many_tokens' },
    });
    expect(decideGiven(tokensDecider, full, mint('more', now + 60_000)).events).toHaveLength(1);
  });

  it('are revoked all at once, without those that expired, and make room for others', () => {
    const { events } = decideGiven(tokensDecider, minted(2), revoke());
    expect(events).toMatchObject([{ type: 'EndUserTokensRevoked', tokenIds: ['tok_0', 'tok_1'] }]);
    expect(decideGiven(tokensDecider, [...minted(2), ...events], revoke()).events).toEqual([]);
    expect(decideGiven(tokensDecider, minted(2), revoke(now + 60_000)).events).toEqual([]);
    const full = [...minted(1_000), ...decideGiven(tokensDecider, minted(1_000), revoke()).events];
    expect(decideGiven(tokensDecider, full, mint('more')).events).toHaveLength(1);
  });

  it('are published without anything by which they could be used', () => {
    const metadata = {
      correlationId: 'r',
      causationId: 'c',
      accountId: 'acc_1',
      actor: { kind: 'key', id: 'k' },
    } as const;
    const read = {
      id: '1',
      stream: 'endUserTokens-eus_1',
      revision: 0n,
      position: 0n,
      createdAt: new Date(0),
      metadata,
    };
    const [event] = minted(1);
    const stored = event === undefined ? { type: '', data: {} } : tokenCodec.toStored(event);
    expect(
      toTokenContractEvent({ ...read, ...stored, data: { ...stored.data, token: 'eu_x' } }).payload,
    ).toEqual({
      ...about,
      ...{ tokenId: 'tok_0', agentId: 'agt_1', scopes: ['chat'] },
      expiresAt: '2026-11-23T08:01:00.000Z',
      at: '2026-11-23T08:00:00.000Z',
    });
  });
});

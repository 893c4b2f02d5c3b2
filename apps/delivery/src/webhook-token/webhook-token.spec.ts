import { join } from 'node:path';
import { decideGiven } from '@berth/kernel';
import { describeGoldenEvents } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { webhookTokenCodec, webhookTokenDecider, type WebhookTokenCommand } from './webhook-token.js';

describeGoldenEvents(join(import.meta.dirname, '__events__'), webhookTokenCodec, {
  WebhookTokenIssued: true,
  WebhookTokenRotated: true,
});

const data = { agentId: 'agt_1', tokenId: 'tok_1', at: '2026-11-23T08:00:00.000Z' };
const issued = { type: 'WebhookTokenIssued', data } as const;
const command = (type: WebhookTokenCommand['type'], tokenId: string): WebhookTokenCommand => ({
  ...data,
  type,
  tokenId,
});

describe('the token of a webhook', () => {
  it('is issued once', () => {
    expect(decideGiven(webhookTokenDecider, [], command('Issue', 'tok_1')).events).toEqual([issued]);
    expect(decideGiven(webhookTokenDecider, [issued], command('Issue', 'tok_2')).events).toEqual([]);
  });

  it('is replaced by each rotation, which may be the first token', () => {
    const rotated = [{ type: 'WebhookTokenRotated', data: { ...data, tokenId: 'tok_2' } }];
    expect(decideGiven(webhookTokenDecider, [issued], command('Rotate', 'tok_2')).events).toEqual(rotated);
    expect(decideGiven(webhookTokenDecider, [], command('Rotate', 'tok_2')).events).toEqual(rotated);
  });
});

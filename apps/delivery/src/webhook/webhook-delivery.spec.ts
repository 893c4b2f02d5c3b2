import { join } from 'node:path';
import { decideGiven, fold } from '@berth/kernel';
import { describeGoldenEvents } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { RETRY_AFTER_MS, webhookDecider, type WebhookCommand } from './webhook-delivery.decider.js';
import { webhookCodec } from './webhook-delivery.events.js';
import type { WebhookEvent } from './webhook-delivery.js';

describeGoldenEvents(join(import.meta.dirname, '__events__'), webhookCodec, {
  WebhookAccepted: true,
  WebhookAttemptFailed: true,
  WebhookDelivered: true,
  WebhookFailed: true,
});

const START = Date.parse('2026-11-23T08:00:00.000Z');
const at = new Date(START).toISOString();
const ids = { deliveryId: 'dlv_1', agentId: 'agt_1' };
const accept: WebhookCommand = {
  ...{ type: 'Accept', ...ids, tokenId: null, bytes: 5, redeliveryOf: null, at },
};
const failAttempt = (code = 'agent_unavailable'): WebhookCommand => ({
  ...{ type: 'FailAttempt', code, at, retryAfterMs: RETRY_AFTER_MS },
});
const decide = (history: readonly WebhookEvent[], command: WebhookCommand): readonly WebhookEvent[] =>
  decideGiven(webhookDecider, history, command).events;
const after = (...commands: readonly WebhookCommand[]): readonly WebhookEvent[] =>
  commands.reduce<readonly WebhookEvent[]>(
    (history, command) => [...history, ...decide(history, command)],
    [],
  );
const ENDS: readonly WebhookCommand[] = [
  { type: 'Deliver', at },
  { type: 'Fail', code: 'agent_error', at, attempted: true },
];

describe('a webhook delivery', () => {
  it('is accepted once', () => {
    expect(after(accept, accept)).toHaveLength(1);
  });

  it('is tried again after 1, 4, 16 and 64 s, and has failed after the fifth attempt', () => {
    const events = after(accept, ...Array.from({ length: 6 }, () => failAttempt())).slice(1);
    const pauses = events.map(({ data }) => ('retryAt' in data ? Date.parse(data.retryAt) - START : null));
    expect(pauses).toEqual([1_000, 4_000, 16_000, 64_000, null]);
    expect(events.at(-1)).toEqual({
      type: 'WebhookFailed',
      data: { ...ids, at, attempts: 5, code: 'agent_unavailable' },
    });
  });

  it('counts the attempt that ended it, and no attempt if it ended without one', () => {
    const tried = after(accept, failAttempt());
    expect(decide(tried, { type: 'Deliver', at })).toMatchObject([{ data: { attempts: 2 } }]);
    const late = { type: 'Fail', code: 'agent_unavailable_for_24h', at, attempted: false } as const;
    expect(decide(tried, late)).toMatchObject([{ type: 'WebhookFailed', data: { attempts: 1 } }]);
  });

  it.each(ENDS)('ends once: nothing follows $type', (end) => {
    for (const next of [...ENDS, failAttempt(), accept]) expect(decide(after(accept, end), next)).toEqual([]);
  });

  it('does nothing before it was accepted', () => {
    for (const command of [...ENDS, failAttempt()]) expect(decide([], command)).toEqual([]);
    expect(fold(webhookDecider, [])).toEqual({ status: 'absent' });
  });
});

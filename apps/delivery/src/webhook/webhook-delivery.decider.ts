import type { Decider } from '@berth/kernel';
import { evolve, type QueuedWebhook, type WebhookDelivery, type WebhookEvent } from './webhook-delivery.js';

/** Pauses after failed attempts, in milliseconds; one more attempt than pauses is made. */
export const RETRY_AFTER_MS: readonly number[] = [1_000, 4_000, 16_000, 64_000];

export type WebhookCommand =
  | {
      readonly type: 'Accept';
      readonly deliveryId: string;
      readonly agentId: string;
      readonly tokenId: string | null;
      readonly bytes: number;
      readonly redeliveryOf: string | null;
      readonly at: string;
    }
  /** An attempt did not hand the message over, or the program declined it. */
  | {
      readonly type: 'FailAttempt';
      readonly code: string;
      readonly at: string;
      readonly retryAfterMs: readonly number[];
    }
  | { readonly type: 'Deliver'; readonly at: string }
  /** No attempt can change it. `attempted`: the program's answer, or an attempt, showed it. */
  | { readonly type: 'Fail'; readonly code: string; readonly at: string; readonly attempted: boolean };

const decide = (command: WebhookCommand, delivery: WebhookDelivery): readonly WebhookEvent[] => {
  if (command.type === 'Accept') {
    const { type: _, ...data } = command;
    return delivery.status === 'absent' ? [{ type: 'WebhookAccepted', data }] : [];
  }
  if (delivery.status !== 'queued') return [];
  const { deliveryId, agentId } = delivery;
  const attempts = delivery.attempts + 1;
  const member = { deliveryId, agentId, at: command.at };
  switch (command.type) {
    case 'Deliver':
      return [{ type: 'WebhookDelivered', data: { ...member, attempts } }];
    case 'Fail': {
      const { code, attempted } = command;
      const data = { ...member, attempts: attempted ? attempts : delivery.attempts, code };
      return [{ type: 'WebhookFailed', data }];
    }
    case 'FailAttempt':
      return [failedAttempt(command, delivery, member)];
  }
};

const failedAttempt = (
  { code, at, retryAfterMs }: Extract<WebhookCommand, { readonly type: 'FailAttempt' }>,
  delivery: QueuedWebhook,
  member: { readonly deliveryId: string; readonly agentId: string; readonly at: string },
): WebhookEvent => {
  const attempts = delivery.attempts + 1;
  const pauseMs = retryAfterMs[delivery.attempts];
  if (pauseMs === undefined) return { type: 'WebhookFailed', data: { ...member, attempts, code } };
  const retryAt = new Date(Date.parse(at) + pauseMs).toISOString();
  return { type: 'WebhookAttemptFailed', data: { ...member, attempts, code, retryAt } };
};

/** The life cycle of one invoked webhook: accepted once, tried until it ends, ended once. */
export const webhookDecider: Decider<WebhookDelivery, WebhookCommand, WebhookEvent> = {
  initial: { status: 'absent' },
  decide,
  evolve,
};

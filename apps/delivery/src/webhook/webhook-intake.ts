import { DomainError } from '@berth/kernel';
import { GatheredCalls } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { DeliveryConfig } from '../config.js';
import { beyondBudget, currentMinute } from '../delivery/message-budget.js';
import { tooManyCalls } from './webhook-rate.js';
import { WebhookVault, type Acceptance, type NewWebhook } from './webhook-vault.js';

/** 16 of the largest bodies; more would hold a statement for too long. */
const MOST_AT_ONCE = 16;
const QUEUE_FULL_RETRY_SECONDS = 60;

/** Puts webhooks into the queues of their agents; those that arrive together share one write to the disk. */
@Injectable()
export class WebhookIntake {
  readonly #calls: GatheredCalls<NewWebhook, Acceptance & { readonly minute: number }>;

  constructor(
    vault: WebhookVault,
    @Inject(DeliveryConfig) config: Pick<DeliveryConfig, 'messagesPerMinute'>,
  ) {
    this.#calls = new GatheredCalls(async (webhooks) => {
      const minute = currentMinute();
      const accepted = await vault.accept(webhooks, { minute, perMinute: config.messagesPerMinute });
      return accepted.map((one) => ({ ...one, minute }));
    }, MOST_AT_ONCE);
  }

  /** Once this returns, the body is stored. Errors: exhausted `rate_limited`, `queue_full`, with `retryAfterSeconds`. */
  async take(webhook: NewWebhook): Promise<void> {
    const { outcome, wait, minute } = await this.#calls.call(webhook);
    if (outcome === 'too_many_calls') throw tooManyCalls(wait);
    if (outcome === 'too_many_messages') throw beyondBudget(minute);
    if (outcome === 'queue_full') throw queueFull();
  }
}

const queueFull = (): DomainError =>
  new DomainError('exhausted', 'queue_full', 'Too many deliveries wait for this agent; try again later.', {
    retryAfterSeconds: QUEUE_FULL_RETRY_SECONDS,
  });

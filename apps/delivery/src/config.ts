import { readEnv, ServiceEnv, type Env } from '@berth/config';
import { readKeyring, type Keyring } from '@berth/persistence';
import { RETRY_AFTER_MS } from './webhook/webhook-delivery.decider.js';
import { HELD_FOR_MS } from './webhook/webhook-hold.js';

/** Longer than any delivery can take: a delivery that is still open after this time was lost with its process. */
const LOST_AFTER_SECONDS = 900;

export abstract class DeliveryConfig extends ServiceEnv {
  /** Maximum number of messages to an agent per minute, of all kinds together. */
  abstract readonly messagesPerMinute: number;
  /** A delivery of this age without an outcome counts as lost. */
  abstract readonly lostAfterSeconds: number;
  /** Pauses after failed attempts to hand over a webhook. */
  abstract readonly webhookRetryMs: readonly number[];
  /** How often it is checked whether an agent that could not take messages can do so again. */
  abstract readonly webhookHoldMs: number;
  /** How long the messages of such an agent wait. */
  abstract readonly webhookHeldForMs: number;
  /** The operator's keys, which seal bodies and tokens of webhooks. */
  abstract readonly keyring: Keyring;
}

/** A cap that is lifted shows within 60 s. */
const WEBHOOK_HOLD_MS = 20_000;

/**
 * Reads the variables that every service reads, BERTH_MESSAGES_PER_MINUTE (1200) and BERTH_SECRET_KEY (`id:base64 of 32
 * bytes`, newest first). Throws `ConfigError`.
 */
export const readDeliveryConfig = (env: Env): DeliveryConfig => {
  const reader = readEnv(env);
  return reader.done({
    ...reader.serviceEnv(),
    messagesPerMinute: reader.integer('BERTH_MESSAGES_PER_MINUTE', {
      default: 1_200,
      min: 1,
      max: 1_000_000,
    }),
    lostAfterSeconds: LOST_AFTER_SECONDS,
    webhookRetryMs: RETRY_AFTER_MS,
    webhookHoldMs: WEBHOOK_HOLD_MS,
    webhookHeldForMs: HELD_FOR_MS,
    keyring: readKeyring(reader.string('BERTH_SECRET_KEY'), (what) =>
      reader.problem('BERTH_SECRET_KEY', what),
    ),
  });
};

import { readEnv, ServiceEnv, type Env } from '@berth/config';

/** Longer than any delivery can take: a delivery that is still open after this time was lost with its process. */
const LOST_AFTER_SECONDS = 900;

export abstract class DeliveryConfig extends ServiceEnv {
  /** Maximum number of messages to an agent per minute, of all kinds together. */
  abstract readonly messagesPerMinute: number;
  /** A delivery of this age without an outcome counts as lost. */
  abstract readonly lostAfterSeconds: number;
}

/** Reads the variables that every service reads, and BERTH_MESSAGES_PER_MINUTE (1200). Throws `ConfigError`. */
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
  });
};

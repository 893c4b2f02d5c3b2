import { readEnv, ServiceEnv, type Env } from '@berth/config';

/** Longer than any message may take: a delivery that is open after it was lost with its process. */
const LOST_AFTER_SECONDS = 900;

export abstract class DeliveryConfig extends ServiceEnv {
  /** The most messages that an agent gets in a minute, by every way together. */
  abstract readonly messagesPerMinute: number;
  /** The age from which a delivery without an outcome is taken for lost. */
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

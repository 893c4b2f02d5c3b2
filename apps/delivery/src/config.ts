import { readEnv, type Env, type ServiceEnv } from '@berth/config';

export interface DeliveryConfig extends ServiceEnv {
  /** Messages an agent gets in a minute, whatever way they come. */
  readonly messagesPerMinute: number;
}

/** NATS_URL, EVENTSTORE_URL, DATABASE_URL, BERTH_MESSAGES_PER_MINUTE (1200). Throws `ConfigError`. */
export const readDeliveryConfig = (env: Env): DeliveryConfig => {
  const reader = readEnv(env);
  return reader.done({
    ...reader.serviceEnv(),
    messagesPerMinute: reader.integer('BERTH_MESSAGES_PER_MINUTE', {
      default: 1_200,
      min: 1,
      max: 1_000_000,
    }),
  });
};

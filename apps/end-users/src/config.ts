import { readEnv, ServiceEnv, type Env } from '@berth/config';
import { readKeyring, type Keyring } from '@berth/persistence';

export abstract class EndUsersConfig extends ServiceEnv {
  /** The operator's keys, which wrap the key of each end user. */
  abstract readonly keyring: Keyring;
  /** The number of requests that an end user may send in 60 s, with all its tokens. */
  abstract readonly requestsPerMinute: number;
}

/**
 * The common variables, BERTH_END_USER_REQUESTS_PER_MINUTE (600) and BERTH_SECRET_KEY (`id:base64 of 32 bytes`, newest
 * first). Throws `ConfigError`.
 */
export const readEndUsersConfig = (env: Env): EndUsersConfig => {
  const reader = readEnv(env);
  const keyring = readKeyring(reader.string('BERTH_SECRET_KEY'), (what) =>
    reader.problem('BERTH_SECRET_KEY', what),
  );
  const requestsPerMinute = reader.integer('BERTH_END_USER_REQUESTS_PER_MINUTE', {
    default: 600,
    min: 1,
    max: 1_000_000,
  });
  return reader.done({ ...reader.serviceEnv(), keyring, requestsPerMinute });
};

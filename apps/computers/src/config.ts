import { readEnv, ServiceEnv, type Env } from '@berth/config';
import { readOperatorSettings, type OperatorSettings } from '@berth/operator-file';
import { readKeyring, type Keyring } from '@berth/persistence';

export abstract class ComputersConfig extends ServiceEnv {
  /** Seconds a computer sleeps warm before it goes cold; 0 goes cold immediately. */
  abstract readonly warmSleepSeconds: number;
  abstract readonly operator: OperatorSettings;
  /** The operator's keys, which encrypt secrets at rest. */
  abstract readonly keyring: Keyring;
}

/**
 * The common variables, and `BERTH_WARM_SLEEP_SECONDS` (300), BERTH_CONFIG (`berth.yaml` in BERTH_DATA),
 * `BERTH_SECRET_KEY` (`id:base64 of 32 bytes`, newest first). Throws `ConfigError` with every invalid variable.
 */
export const readComputersConfig = (env: Env): ComputersConfig => {
  const reader = readEnv(env);
  return reader.done({
    ...reader.serviceEnv(),
    warmSleepSeconds: reader.integer('BERTH_WARM_SLEEP_SECONDS', { default: 300, max: 86_400 }),
    operator: readOperatorSettings(reader),
    keyring: readKeyring(reader.string('BERTH_SECRET_KEY'), (what) =>
      reader.problem('BERTH_SECRET_KEY', what),
    ),
  });
};

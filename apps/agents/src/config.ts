import { readEnv, ServiceEnv, type Env } from '@berth/config';
import { readOperatorSettings, type OperatorSettings } from '@berth/operator-file';
import { readKeyring, type Keyring } from '@berth/persistence';

export abstract class AgentsConfig extends ServiceEnv {
  /** Seconds an agent sleeps warm before it goes cold; 0 goes cold immediately. */
  abstract readonly warmSleepSeconds: number;
  /** Folders of templates, the shipped ones first. */
  abstract readonly templateFolders: readonly string[];
  abstract readonly operator: OperatorSettings;
  /** The operator's keys, which encrypt secrets at rest. */
  abstract readonly keyring: Keyring;
}

/**
 * The common variables, and `BERTH_WARM_SLEEP_SECONDS` (300), `BERTH_SHIPPED_TEMPLATES_DIR`, `BERTH_TEMPLATES_DIR`,
 * BERTH_CONFIG (`berth.yaml` in BERTH_DATA), `BERTH_SECRET_KEY` (`id:base64 of 32 bytes`, newest first). Throws `ConfigError` with every invalid variable.
 */
export const readAgentsConfig = (env: Env): AgentsConfig => {
  const reader = readEnv(env);
  const shipped = reader.path('BERTH_SHIPPED_TEMPLATES_DIR', 'infra/templates');
  const own = reader.optional('BERTH_TEMPLATES_DIR');
  const config = {
    ...reader.serviceEnv(),
    warmSleepSeconds: reader.integer('BERTH_WARM_SLEEP_SECONDS', { default: 300, max: 86_400 }),
    templateFolders: own === undefined ? [shipped] : [shipped, own],
    operator: readOperatorSettings(reader),
    keyring: readKeyring(reader.string('BERTH_SECRET_KEY'), (what) =>
      reader.problem('BERTH_SECRET_KEY', what),
    ),
  };
  return reader.done(config);
};

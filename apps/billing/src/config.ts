import { readEnv, ServiceEnv, type Env } from '@berth/config';
import { readOperatorSettings, type OperatorSettings } from '@berth/operator-file';

export abstract class BillingConfig extends ServiceEnv {
  abstract readonly operator: OperatorSettings;
}

/** The common variables, and BERTH_CONFIG (`berth.yaml` in BERTH_DATA). Throws `ConfigError` with every invalid variable. */
export const readBillingConfig = (env: Env): BillingConfig => {
  const reader = readEnv(env);
  return reader.done({ ...reader.serviceEnv(), operator: readOperatorSettings(reader) });
};

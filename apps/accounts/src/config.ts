import { join } from 'node:path';
import { readEnv, ServiceEnv, type Env } from '@berth/config';
import { RECOVERY_SOCKET } from '@berth/contracts/accounts';
import { readOperatorSettings, type OperatorSettings } from '@berth/operator-file';

export abstract class AccountsConfig extends ServiceEnv {
  /** The file to which the first start of an installation writes the first key. */
  abstract readonly bootstrapKeyFile: string;
  /** The Unix socket of `berth keys recover`, in `BERTH_DATA`. */
  abstract readonly recoverySocket: string;
  abstract readonly operator: OperatorSettings;
}

/**
 * Reads the common variables, `BERTH_BOOTSTRAP_KEY_FILE` (default `bootstrap-key` in `BERTH_DATA`) and `BERTH_CONFIG`
 * (default `berth.yaml` in `BERTH_DATA`).
 */
export const readAccountsConfig = (env: Env): AccountsConfig => {
  const reader = readEnv(env);
  const data = reader.path('BERTH_DATA', './.data');
  const bootstrapKeyFile = reader.path('BERTH_BOOTSTRAP_KEY_FILE', join(data, 'bootstrap-key'));
  return reader.done({
    ...reader.serviceEnv(),
    bootstrapKeyFile,
    recoverySocket: join(data, RECOVERY_SOCKET),
    operator: readOperatorSettings(reader),
  });
};

import { resolve } from 'node:path';
import { readEnv, type Env } from '@berth/config';
import { RECOVERY_SOCKET } from '@berth/contracts/accounts';
import { HOST_ACCESS_SOCKET } from '@berth/contracts/operations';

/** Where the service is and which key to use. */
export interface CliConfig {
  /** Base address without a trailing slash. */
  readonly url: string;
  readonly apiKey: string | undefined;
  /** Read when `apiKey` is not set. */
  readonly keyFile: string;
  /** The Unix socket of a Berth that runs on this host. */
  readonly recoverySocket: string;
  /** The Unix socket of a Berth with an embedded broker that runs on this host. */
  readonly hostsSocket: string;
}

/** Reads `BERTH_URL`, `PORT`, `BERTH_API_KEY` and `BERTH_DATA`. Throws `ConfigError`. */
export const readCliConfig = (env: Env): CliConfig => {
  const reader = readEnv(env);
  const port = reader.integer('PORT', { min: 1, max: 65_535, default: 8080 });
  const data = reader.path('BERTH_DATA', './.data');
  return reader.done({
    url: reader.url('BERTH_URL', `http://localhost:${port}`, ['http', 'https']).replace(/\/+$/, ''),
    apiKey: reader.optional('BERTH_API_KEY')?.trim(),
    keyFile: resolve(data, 'bootstrap-key'),
    recoverySocket: resolve(data, RECOVERY_SOCKET),
    hostsSocket: resolve(data, HOST_ACCESS_SOCKET),
  });
};

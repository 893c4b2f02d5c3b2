import { readEnv, ServiceEnv, type Env } from '@berth/config';
import { PACE, type Pace } from './timers/pace.js';
import { PATIENCE, type Patience } from './timers/patience.js';

export abstract class ExecConfig extends ServiceEnv {
  abstract readonly pace: Pace;
  abstract readonly patience: Patience;
}

/** Reads the environment variables common to all services. Throws `ConfigError`. */
export const readExecConfig = (env: Env): ExecConfig => {
  const reader = readEnv(env);
  return reader.done({ ...reader.serviceEnv(), pace: PACE, patience: PATIENCE });
};

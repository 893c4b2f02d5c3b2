import { readEnv, ServiceEnv, type Env } from '@berth/config';
import { PACE, type Pace } from './timers/pace.js';
import { GIVE_UP_AFTER, type GiveUpAfter } from './timers/give-up-after.js';

export abstract class ExecConfig extends ServiceEnv {
  abstract readonly pace: Pace;
  abstract readonly giveUpAfter: GiveUpAfter;
}

/** Reads the environment variables common to all services. Throws `ConfigError`. */
export const readExecConfig = (env: Env): ExecConfig => {
  const reader = readEnv(env);
  return reader.done({ ...reader.serviceEnv(), pace: PACE, giveUpAfter: GIVE_UP_AFTER });
};

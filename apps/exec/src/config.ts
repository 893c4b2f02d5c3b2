import { readEnv, type Env, type ServiceEnv } from '@berth/config';

export type ExecConfig = ServiceEnv;

/** NATS_URL, EVENTSTORE_URL, DATABASE_URL. Throws `ConfigError`. */
export const readExecConfig = (env: Env): ExecConfig => {
  const reader = readEnv(env);
  return reader.done(reader.serviceEnv());
};

export type { BrokerCredentials } from './broker-credentials.js';
export { ConfigError, EXIT_CONFIG } from './config-error.js';
export { EXIT_UNSUITABLE_HOST, UnsuitableHostError } from './unsuitable-host.js';
export {
  EnvReader,
  LOG_LEVELS,
  readEnv,
  BrokerEnv,
  type Env,
  type IntegerRange,
  type LogLevel,
  type RuntimeDriver,
  ServiceEnv,
} from './env-reader.js';
export { addressOf, type PartUrlName } from './part-urls.js';

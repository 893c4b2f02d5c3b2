export { allowedRegistry } from './allowed-registry.js';
export {
  OperatorFileError,
  parseOperatorFile,
  type AllowedHost,
  type NetworkSettings,
  type OperatorFile,
} from './parse-operator-file.js';
export { OperatorSettings, readOperatorSettings } from './operator-settings.js';
export type { NetworkDestination } from './network-destination.js';

export { AccountPlans } from './account-plans.js';
export { allowedRegistry } from './allowed-registry.js';
export {
  OperatorFileError,
  parseOperatorFile,
  type AllowedHost,
  type ComputerSizes,
  type NetworkSettings,
  type OperatorFile,
} from './parse-operator-file.js';
export type { Dialect, LlmModel, LlmProvider, LlmRates, LlmSettings } from './llm-settings.js';
export type { Addon, Hosting, Plan } from './plan.js';
export { OperatorSettings, readOperatorSettings, type FindPlansInUse } from './operator-settings.js';
export type { NetworkDestination } from './network-destination.js';

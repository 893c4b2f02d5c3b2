export {
  OperatorFileError,
  parseOperatorFile,
  type AllowedHost,
  type OperatorFile,
} from './parse-operator-file.js';
export { OperatorSettings, readOperatorSettings } from './operator-settings.js';

export { readStandaloneConfig, type StandaloneConfig } from './config.js';
export { bootstrapKeyFile, startStandalone } from './standalone.js';

export { readExecConfig, type ExecConfig } from './config.js';
export { startExec } from './start-exec.js';

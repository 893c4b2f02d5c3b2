export { readExecConfig, type ExecConfig } from './config.js';
export { ExecModule } from './exec.module.js';

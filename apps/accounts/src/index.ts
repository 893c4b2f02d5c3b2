export { AccountsModule } from './accounts.module.js';
export { readAccountsConfig, type AccountsConfig } from './config.js';

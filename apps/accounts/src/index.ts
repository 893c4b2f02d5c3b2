export { readAccountsConfig, type AccountsConfig } from './config.js';
export { startAccounts } from './start-accounts.js';

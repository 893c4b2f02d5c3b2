import { runMain } from '@berth/service';
import { readAccountsConfig, startAccounts } from './index.js';

await runMain({ name: 'accounts', env: process.env, readConfig: readAccountsConfig, start: startAccounts });

import { runMain } from '@berth/service';
import { readGatewayConfig, startGateway } from './index.js';

await runMain({ name: 'gateway', env: process.env, readConfig: readGatewayConfig, start: startGateway });

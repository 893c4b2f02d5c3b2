import { runMain } from '@berth/service';
import { readGatewayConfig, startGateway } from './index.js';
import { SeparateGatewayModule } from './separate-gateway.module.js';

await runMain({
  name: 'gateway',
  env: process.env,
  readConfig: readGatewayConfig,
  start: (config, log) => startGateway(config, log, { module: SeparateGatewayModule }),
});

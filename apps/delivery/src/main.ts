import 'reflect-metadata';
import { runMain } from '@berth/service';
import { readDeliveryConfig, startDelivery } from './index.js';

await runMain({ name: 'delivery', env: process.env, readConfig: readDeliveryConfig, start: startDelivery });

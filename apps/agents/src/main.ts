import 'reflect-metadata';
import { runMain } from '@berth/service';
import { readAgentsConfig, startAgents } from './index.js';

await runMain({ name: 'agents', env: process.env, readConfig: readAgentsConfig, start: startAgents });

import 'reflect-metadata';
import { runMain } from '@berth/service';
import { readRuntimeConfig, startRuntime } from './index.js';

await runMain({ name: 'runtime', env: process.env, readConfig: readRuntimeConfig, start: startRuntime });

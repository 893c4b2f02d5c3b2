import 'reflect-metadata';
import { runMain } from '@berth/service';
import { readExecConfig, startExec } from './index.js';

await runMain({ name: 'exec', env: process.env, readConfig: readExecConfig, start: startExec });

import 'reflect-metadata';
import { runMain } from '@berth/service';
import { readFilesConfig, startFiles } from './index.js';

await runMain({ name: 'files', env: process.env, readConfig: readFilesConfig, start: startFiles });

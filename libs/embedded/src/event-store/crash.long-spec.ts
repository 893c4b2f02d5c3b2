import { randomInt } from 'node:crypto';
import { describeCrashes } from './crash.suite.js';

const kills = Array.from({ length: 40 }, () => randomInt(5, 400));
process.stdout.write(`kills after ${kills.join(', ')} events\n`);
describeCrashes(kills);

import { freshSeeds } from '@berth/testing';
import { describeRandomCronTimes } from './random-cron-times.suite.js';

for (const seed of freshSeeds(1)) describeRandomCronTimes({ seed, count: 50_000 });

import { describeRandomCronTimes } from './random-cron-times.suite.js';

describeRandomCronTimes({ seed: 1, count: 2_000 });

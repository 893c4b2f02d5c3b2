import { describeReadiness } from './readiness.suite.js';

describeReadiness(60);

import { describeReadiness } from './readiness.suite.js';

describeReadiness(6);

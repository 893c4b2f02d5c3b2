import { describeProcessDriver } from './process-driver-contract.suite.js';

describeProcessDriver();

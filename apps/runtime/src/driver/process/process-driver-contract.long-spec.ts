import { describeOtherVariants } from './process-driver-contract.suite.js';

describeOtherVariants();

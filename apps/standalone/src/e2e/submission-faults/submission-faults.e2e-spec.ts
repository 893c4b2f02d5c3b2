import { describeSubmissionFaults } from './submission-faults.suite.js';

describeSubmissionFaults();

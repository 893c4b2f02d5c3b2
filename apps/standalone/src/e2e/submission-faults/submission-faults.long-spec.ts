import { freshSeeds } from '@berth/testing';
import { describeSubmissionFaults } from './submission-faults.suite.js';

describeSubmissionFaults(freshSeeds(500));

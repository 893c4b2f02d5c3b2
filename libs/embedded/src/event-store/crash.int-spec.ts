import { describeCrashes } from './crash.suite.js';

// At the first appends, in the middle of some, and after all writers have written often.
describeCrashes([6, 31, 67, 124]);

import { describeInterleavedCommands } from './interleaved-commands.suite.js';

describeInterleavedCommands({ numRuns: 20, seed: 1 });

import { describeInterleavedCommands } from './interleaved-commands.suite.js';

// fast-check names the seed of a history that fails.
describeInterleavedCommands({ numRuns: 300 });

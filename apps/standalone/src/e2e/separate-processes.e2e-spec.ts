import { afterAll, beforeAll } from 'vitest';
import { describeOneCallEach } from './one-call-each.suite.js';
import { startSeparateStack, type SeparateStack } from './separate-processes.fixture.js';
import { temporaryFolder } from './stack.fixture.js';

// Every service starts from its own program and environment. What else needs that is in the long lane.
const folder = temporaryFolder();
let stack: SeparateStack;

beforeAll(async () => {
  stack = await startSeparateStack(folder.path);
});

afterAll(async () => {
  await stack.stop();
  folder.remove();
});

describeOneCallEach(() => stack);

import { appendFileSync } from 'node:fs';
import { afterAll, expect } from 'vitest';
import { enterGroup, secondsOf } from './group.mjs';

// Vitest's set-up of each test file: notes the processor time that the file and all processes that it starts use. Servers
// that a run shares are not in it.

const run = process.env['BERTH_TEST_GROUP'];
const output = process.env['BERTH_TEST_COSTS'];

if (run && output) {
  const group = enterGroup(run, String(process.pid));
  const before = secondsOf(group);
  // Registered first, so it runs after the hooks of the file.
  afterAll(() => {
    const file = expect.getState().testPath;
    appendFileSync(output, `${JSON.stringify({ file, seconds: secondsOf(group) - before })}\n`);
  });
}

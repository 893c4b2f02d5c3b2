import { describe, it } from 'vitest';
import { expectForgotten, useStack, type StartStack } from './forgotten-data.fixture.js';
import { startSeparateStack } from './separate-processes.fixture.js';

const inSeparateProcesses: StartStack = async (path, env) => {
  const started = await startSeparateStack(path, env);
  return [started, () => [...started.programs.values()].map((one) => one.printed).join('')];
};

describe('with every service in a separate process', () => {
  useStack(inSeparateProcesses);

  it('no log, message or trace has personal data in plaintext, and nothing has it once its end user is deleted', async () => {
    await expectForgotten();
  });
});

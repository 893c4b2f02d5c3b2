import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { ReplayedModel, runLoop, type LoopRun } from './computer-loop.fixture.js';
import { Computer } from './computers.fixture.js';
import type { Stack } from './stack.fixture.js';

/** docs/examples/computer-loop with real desktops and models that replay what they said once. */
export const describeComputerLoop = (stack: () => Stack): void => {
  describe('the example of a model that uses a computer', () => {
    let computer: Computer;
    let model: ReplayedModel;
    beforeAll(async () => {
      computer = await Computer.create(new Api(stack), stack);
    }, 90_000);
    beforeEach(async () => {
      model = await ReplayedModel.start();
      await computer.openTerminal('cat > typed.txt');
    });
    afterEach(() => model.stop());

    it.each(['anthropic', 'openai'] as const)('does what a model of %s asked for', async (vendor) => {
      const berth: LoopRun['berth'] = { url: stack().urls[0] ?? '', key: stack().key, computer: computer.id };
      const { code, out, err } = await runLoop({ vendor, model, berth, answer: 'y\n' });
      expect([code, err]).toEqual([0, '']);
      expect(out).toContain('It is done.');
      expect(await computer.wrote('typed.txt')).toBe('Zoë — 東京\n');
      await computer.act({ type: 'key', keys: ['ctrl', 'c'] });
    });
  });
};

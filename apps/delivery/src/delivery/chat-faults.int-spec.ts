import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { STEPS } from '../fixtures/chat-faults/chat-plan.fixture.js';
import { ChatWorld } from '../fixtures/chat-faults/chat-world.fixture.js';
import { runSeeds, storyOf, summaryOf, type Judged } from '../fixtures/chat-faults/run-chat-seeds.fixture.js';

const SEEDS = { from: 1, count: 100, lanes: 8 };

let world: ChatWorld;
let judged: readonly Judged[];

beforeAll(async () => {
  world = await ChatWorld.start();
  judged = await runSeeds(world, SEEDS);
}, 300_000);
afterAll(() => world.stop());

describe('a chat that any step fails on its way', () => {
  it('is handed over once at most, is answered with what the agent answered, and ends in the log as it did', () => {
    const broken = judged.filter((one) => one.broken.length > 0);
    expect(broken.map(storyOf).join('\n\n')).toBe('');
    expect(judged).toHaveLength(SEEDS.count);
  });

  it('was struck at every step, in every way, and told all there is to tell', () => {
    const tries = judged.flatMap(({ cases }) => cases).flatMap((one) => one.tries);
    const struck = tries.flatMap((one) => one.struck);
    const summary = summaryOf(judged);
    expect(new Set(struck.map(({ step }) => step)), summary).toEqual(new Set(STEPS));
    expect(new Set(struck.map(({ how }) => how)).size, summary).toBe(7);
    expect(new Set(tries.map(({ told }) => told.kind)).size, summary).toBe(4);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { STEPS } from '../fixtures/chat-faults/chat-plan.fixture.js';
import { ChatSimulation } from '../fixtures/chat-faults/chat-simulation.fixture.js';
import {
  runSeeds,
  traceOf,
  summaryOf,
  type SeedResult,
} from '../fixtures/chat-faults/run-chat-seeds.fixture.js';

const SEEDS = { from: 1, count: 100, concurrency: 8 };

let simulation: ChatSimulation;
let judged: readonly SeedResult[];

beforeAll(async () => {
  simulation = await ChatSimulation.start();
  judged = await runSeeds(simulation, SEEDS);
}, 300_000);
afterAll(() => simulation.stop());

describe('a chat with faults at any step', () => {
  it('is delivered at most once, returns the answer of the agent, is recorded with its real outcome, and after any refusal is delivered when it is sent again under its key', () => {
    const broken = judged.filter((one) => one.broken.length > 0);
    expect(broken.map(traceOf).join('\n\n')).toBe('');
    expect(judged).toHaveLength(SEEDS.count);
  });

  it('was hit by every fault at every step, and showed every kind of outcome', () => {
    const tries = judged.flatMap(({ cases }) => cases).flatMap((one) => one.tries);
    const struck = tries.flatMap((one) => one.struck);
    const summary = summaryOf(judged);
    expect(new Set(struck.map(({ step }) => step)), summary).toEqual(new Set(STEPS));
    expect(new Set(struck.map(({ kind }) => kind)).size, summary).toBe(7);
    expect(new Set(tries.map(({ outcome }) => outcome.kind)).size, summary).toBe(4);
  });
});

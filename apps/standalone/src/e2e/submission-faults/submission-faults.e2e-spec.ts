import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../stack.fixture.js';
import { startFaultyStack, type FaultyStack } from './faulty-stack.fixture.js';
import { nameOf } from './plan.fixture.js';
import { outcomesUnderFault, runSeeds, storyOf, summaryOf, type Run } from './run-seeds.fixture.js';

const SEEDS = { from: 201, count: 200, lanes: 8 };

const folder = temporaryFolder();
let stack: FaultyStack | undefined;
let run: Run;

beforeAll(async () => {
  stack = await startFaultyStack(folder.path);
  run = await runSeeds(stack, SEEDS);
}, 300_000);

afterAll(async () => {
  await stack?.stop();
  folder.remove();
});

describe('a submission that is interrupted anywhere on its way', () => {
  it('is never reported as not started when it has started, runs at most once, and reaches an end that can be read', () => {
    expect(run.broken.map(storyOf).join('\n\n')).toBe('');
    expect(run.results).toHaveLength(SEEDS.count);
  });

  it('was interrupted with each outcome under a fault: refused, unknown, and successful', () => {
    const { notStarted, unknown, worked } = outcomesUnderFault(run);
    expect(notStarted, summaryOf(run)).toBeGreaterThan(10);
    expect(unknown, summaryOf(run)).toBeGreaterThan(3);
    expect(worked, summaryOf(run)).toBeGreaterThan(40);
  });

  it('was interrupted at every step', () => {
    const struck = new Set(
      run.results.filter((one) => one.struck).map(({ plan }) => nameOf(plan.fault).split(' ')[0]),
    );
    expect([...struck]).toEqual(
      expect.arrayContaining([
        'client-gateway',
        'gateway-nats',
        'exec-nats',
        'agents-nats',
        'agents-log',
        'exec-log',
        'exec-tables',
        'runtime-nats',
        'runtime-guest',
        'guest',
        'exec',
        'runtime',
        'agent',
        'journal',
        'socket',
        'twins',
      ]),
    );
  });
});

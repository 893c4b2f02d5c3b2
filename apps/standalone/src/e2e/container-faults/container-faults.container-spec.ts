import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../stack.fixture.js';
import { ContainerLane } from './container-lane.fixture.js';
import { FAULT_COUNT, nameOf, planOf } from './plan.fixture.js';
import { SeedRun, storyOf } from './seed-run.fixture.js';

/** Of the faults that kill, which take no time limit to notice: a few of each victim. `npm run faults` runs them all. */
const FAULTS = [
  'create: within nerdctl run, nerdctl kill',
  'create: after nerdctl run, guest kill',
  'stop: within nerdctl rm, containerd kill',
  'wake: within nerdctl run, shim kill',
  'remove: within nerdctl rm, nerdctl kill',
  'build: within nerdctl run, containerd kill',
  'pull: within nerdctl pull, nerdctl kill',
  'pull: within nerdctl tag, containerd kill',
];

const seedOf = (name: string): number => {
  for (let seed = 1; seed <= FAULT_COUNT; seed++) if (nameOf(planOf(seed)) === name) return seed;
  throw new Error(`No fault is called ${name}.`);
};

describe('an operation on an agent in a container, during which a part of the host is killed', () => {
  const folder = temporaryFolder();
  let lane: ContainerLane;

  beforeAll(async () => {
    lane = await ContainerLane.open(join(folder.path, 'lane'));
  });

  afterAll(async () => {
    await lane.close();
    folder.remove();
  });

  it.each(FAULTS)(
    '(%s) is done or refused, and leaves one agent that works, and nothing else',
    async (name) => {
      const result = await SeedRun.of(lane, seedOf(name));
      expect(result.broken, storyOf(result)).toEqual([]);
      expect(result.struck).toBe(true);
    },
    120_000,
  );
});

import { afterEach, expect, it, vi } from 'vitest';
import { freshSeeds } from './seeds.js';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

it('fresh seeds print the command that repeats them, and it does', () => {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const seeds = freshSeeds(3);
  const [, seed = '', file] =
    /BERTH_TEST_SEED=(\d+) npm run test:long -- (.+)\n/.exec(String(write.mock.calls[0])) ?? [];
  expect(file).toBe('libs/platform/testing/src/seeds.spec.ts');
  vi.stubEnv('BERTH_TEST_SEED', seed);
  expect(freshSeeds(3)).toEqual(seeds);
});

it('a seed that is no number is refused', () => {
  vi.stubEnv('BERTH_TEST_SEED', 'x');
  expect(() => freshSeeds(1)).toThrow('BERTH_TEST_SEED must be a whole number.');
});

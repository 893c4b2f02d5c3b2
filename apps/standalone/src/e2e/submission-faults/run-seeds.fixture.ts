import type { FaultyStack } from './faulty-stack.fixture.js';
import { Lane, type SeedResult } from './lane.fixture.js';
import { nameOf } from './plan.fixture.js';
import { kindOf, saysNotStarted } from './submission.fixture.js';
import { KeyedMutex } from './keyed-mutex.fixture.js';

/** Which seeds, and how many at a time. */
export interface Seeds {
  readonly seeds: readonly number[];
  readonly lanes: number;
}

/** The result of a run. */
export interface Run {
  readonly results: readonly SeedResult[];
  /** Seeds that broke a guarantee, with their stories. */
  readonly broken: readonly SeedResult[];
}

/**
 * Runs the seeds in this many agents at once. Calls `onResult` after each, and again for one that broke a guarantee
 * later.
 */
export const runSeeds = async (
  stack: FaultyStack,
  { seeds, lanes }: Seeds,
  onResult: (results: SeedResult) => void = () => undefined,
): Promise<Run> => {
  const locks = new KeyedMutex();
  const results = new Map<number, SeedResult>();
  const add = (one: SeedResult): void => {
    const { seed } = one.plan;
    const known = results.get(seed);
    if (known !== undefined && (known.broken.length > 0 || one.broken.length === 0)) return;
    results.set(seed, one);
    onResult(one);
  };
  const left = seeds.values();
  const work = async (): Promise<void> => {
    const lane = await Lane.open(stack, locks);
    try {
      for (const seed of left) {
        add(await lane.run(seed));
        if (lane.worn) for (const late of await lane.settle()) add(late);
      }
      for (const late of await lane.settle()) add(late);
    } finally {
      await lane.close();
    }
  };
  await Promise.all(Array.from({ length: lanes }, work));
  const all = [...results.values()].toSorted((one, other) => one.plan.seed - other.plan.seed);
  return { results: all, broken: all.filter(({ broken }) => broken.length > 0) };
};

/** The story of a seed, for debugging. */
export const storyOf = ({ plan, broken, story }: SeedResult): string =>
  [`seed ${String(plan.seed)}: ${broken.join(' ')}`, ...story].join('\n  ');

/** How often each name occurs, most frequent first. */
export const countsOf = (names: readonly string[]): readonly (readonly [name: string, count: number])[] => {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].toSorted(([, one], [, other]) => other - one);
};

/** The responses, and the faults that struck. */
export const summaryOf = ({ results, broken }: Run): string => {
  const list = (names: readonly string[]): string =>
    countsOf(names)
      .map(([name, count]) => `${name}: ${String(count)}`)
      .join(', ');
  const struck = results.filter((one) => one.struck);
  return [
    `${String(results.length)} seeds, ${String(struck.length)} struck, ${String(broken.length)} broken`,
    `responses under a fault: ${list(struck.flatMap(({ attempts }) => attempts.map(kindOf)))}`,
    `faults that struck: ${list(struck.map(({ plan }) => nameOf(plan.fault)))}`,
  ].join('\n');
};

/** How often a submission under a fault ended in each of the three ways that matter. */
export const outcomesUnderFault = ({
  results,
}: Run): { notStarted: number; unknown: number; worked: number } => {
  const attempts = results.filter(({ struck }) => struck).flatMap((one) => one.attempts);
  return {
    notStarted: attempts.filter(saysNotStarted).length,
    unknown: attempts.filter((one) => kindOf(one) === '502 execution_outcome_unknown').length,
    worked: attempts.filter(({ response }) => response !== undefined && response.status < 300).length,
  };
};

import { runCase, type Facts } from './chat-case.fixture.js';
import { judge, type History } from './chat-verdict.fixture.js';
import type { ChatWorld } from './chat-world.fixture.js';

/** Which seeds, and how many at a time. */
export interface Seeds {
  readonly from: number;
  readonly count: number;
  readonly lanes: number;
}

/** A seed that is over. */
export interface Judged extends Facts {
  readonly broken: readonly string[];
}

/** Runs the seeds, lets everything come to rest, and judges each. */
export const runSeeds = async (
  world: ChatWorld,
  { from, count, lanes }: Seeds,
  onRun: (done: number) => void = () => undefined,
): Promise<readonly Judged[]> => {
  const facts: Facts[] = [];
  const seeds = Array.from({ length: count }, (_, index) => from + index);
  await inLanes(lanes, seeds, async (seed) => {
    facts.push(await runCase(world, seed));
    onRun(facts.length);
  });
  await world.endLost();
  const judged: Judged[] = [];
  await inLanes(lanes, facts, async (one) => void judged.push(await judgeSeed(world, one)));
  return judged.toSorted((one, other) => one.plan.seed - other.plan.seed);
};

/** So many items at a time. */
const inLanes = async <Item>(
  lanes: number,
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> => {
  const left = items.values();
  const lane = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
};

const judgeSeed = async (world: ChatWorld, facts: Facts): Promise<Judged> => {
  const histories = new Map<string, History>();
  for (const { deliveryId } of facts.cases)
    histories.set(deliveryId, await world.store.read(`delivery-${deliveryId}`));
  const received = world.received(facts.agentId);
  const counted = await world.counted(facts.agentId);
  return { ...facts, broken: judge(facts, { received, histories, counted }) };
};

/** The story of a seed, for whoever wants to know what happened. */
export const storyOf = ({ plan, broken, cases }: Judged): string =>
  [
    `seed ${String(plan.seed)}: ${broken.join(' ')}`,
    ...cases.map(
      ({ text, deliveryId, message, tries }) =>
        `${text} ${deliveryId} (${message.program}) ${JSON.stringify(tries)}`,
    ),
  ].join('\n  ');

/** How often each name comes, most often first. */
const countsOf = (names: readonly string[]): string =>
  [...Map.groupBy(names, (name) => name)]
    .map(([name, all]) => ({ name, times: all.length }))
    .toSorted((one, other) => other.times - one.times)
    .map(({ name, times }) => `${name}: ${String(times)}`)
    .join(', ');

/** What was told, and which faults struck. */
export const summaryOf = (judged: readonly Judged[]): string => {
  const tries = judged.flatMap(({ cases }) => cases).flatMap((one) => one.tries);
  const struck = tries.flatMap((one) => one.struck);
  const broken = judged.filter((one) => one.broken.length > 0);
  return [
    `${String(judged.length)} seeds, ${String(tries.length)} tries, ${String(struck.length)} strikes, ${String(broken.length)} broken`,
    `told: ${countsOf(tries.map(({ told }) => (told.kind === 'answered' ? 'answered' : `${told.kind} ${told.code}`)))}`,
    `struck: ${countsOf(struck.map(({ step, how }) => `${step} ${how}`))}`,
  ].join('\n');
};

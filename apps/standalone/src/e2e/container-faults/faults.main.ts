import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { temporaryFolder } from '../stack.fixture.js';
import { ContainerLane } from './container-lane.fixture.js';
import { FAULT_COUNT, nameOf } from './plan.fixture.js';
import { runSeeds, storyOf } from './seed-run.fixture.js';

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: String(FAULT_COUNT) },
    from: { type: 'string', default: '1' },
    lanes: { type: 'string', default: '3' },
    verbose: { type: 'boolean', default: false },
  },
});
const seeds = Array.from({ length: Number(values.seeds) }, (_, index) => Number(values.from) + index);
const folder = temporaryFolder();
const lanes: ContainerLane[] = [];
const begun = Date.now();
try {
  for (let lane = 0; lane < Math.min(Number(values.lanes), seeds.length); lane++)
    lanes.push(await ContainerLane.open(join(folder.path, `lane-${String(lane)}`)));
  const results = await runSeeds(lanes, seeds, (one) => {
    if (one.broken.length > 0 || values.verbose) say(`\n${storyOf(one)}`);
    else say(`seed ${String(one.plan.seed)}: ${one.struck ? nameOf(one.plan) : 'the fault did not strike'}`);
  });
  const [struck, broken] = [
    results.filter((one) => one.struck),
    results.filter((one) => one.broken.length > 0),
  ];
  const seconds = Math.round((Date.now() - begun) / 1000);
  say(
    `\n${String(results.length)} seeds of ${String(FAULT_COUNT)} different faults, ${String(struck.length)} struck, ` +
      `${String(broken.length)} broken, ${String(seconds)} s`,
  );
  if (broken.length > 0) {
    say(`broken: ${broken.map(({ plan }) => String(plan.seed)).join(' ')}`);
    process.exitCode = 1;
    if (values.verbose) for (const { stack } of lanes) say(stack.program.printed.slice(-8_000));
  }
} finally {
  for (const lane of lanes) await lane.close();
  folder.remove();
}

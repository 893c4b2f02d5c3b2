import { parseArgs } from 'node:util';
import { seedsFrom } from '@berth/testing';
import { temporaryFolder } from '../stack.fixture.js';
import { PROCESSES, startFaultyStack } from './faulty-stack.fixture.js';
import { runSeeds, storyOf, summaryOf } from './run-seeds.fixture.js';

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    lanes: { type: 'string', default: '6' },
    verbose: { type: 'boolean', default: false },
  },
});
const seeds = seedsFrom(Number(values.from), Number(values.seeds));
const lanes = Math.min(Number(values.lanes), seeds.length);

const folder = temporaryFolder();
const stack = await startFaultyStack(folder.path);
const begun = Date.now();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    void stack.stop().finally(() => {
      folder.remove();
      process.exit(1);
    });
  });
let done = 0;
try {
  const run = await runSeeds(stack, { seeds, lanes }, (result) => {
    done += 1;
    if (result.broken.length > 0 || values.verbose) say(`\n${storyOf(result)}`);
    else if (done % 50 === 0)
      say(`${String(done)} seeds, ${String(Math.round((Date.now() - begun) / 1000))} s`);
  });
  say(`\n${summaryOf(run)}, ${String(Math.round((Date.now() - begun) / 1000))} s`);
  if (run.broken.length > 0) {
    say(`broken: ${run.broken.map(({ plan }) => String(plan.seed)).join(' ')}`);
    process.exitCode = 1;
  }
} catch (error) {
  for (const service of PROCESSES) say(`${service}: ${stack.outputOf(service)}`);
  throw error;
} finally {
  await stack.stop();
  folder.remove();
}

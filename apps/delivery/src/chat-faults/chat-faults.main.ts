import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { ChatWorld } from './chat-world.fixture.js';
import { runSeeds, storyOf, summaryOf } from './run-chat-seeds.fixture.js';

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    lanes: { type: 'string', default: '12' },
    verbose: { type: 'boolean', default: false },
  },
});
const count = Number(values.seeds);
const lanes = Math.min(Number(values.lanes), count);

const begun = Date.now();
const seconds = (): string => `${String(Math.round((Date.now() - begun) / 1000))} s`;
const world = await ChatWorld.start();
try {
  const judged = await runSeeds(world, { from: Number(values.from), count, lanes }, (done) => {
    if (done % 100 === 0) say(`${String(done)} seeds, ${seconds()}`);
  });
  const broken = judged.filter((one) => one.broken.length > 0);
  for (const one of values.verbose ? judged : broken) say(`\n${storyOf(one)}`);
  say(`\n${summaryOf(judged)}, ${seconds()}`);
  if (broken.length > 0) process.exitCode = 1;
} finally {
  await world.stop();
}

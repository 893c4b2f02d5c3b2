import type { BenchContext } from '../context.js';
import { compare, type Side } from '../measure/compare.js';
import { repeatTimes, timed } from '../measure/loops.js';
import { ApiClient } from '../programs/api-client.js';
import { BerthProgram, type Launch } from '../programs/berth-program.js';
import { startEcho } from '../programs/echo-program.js';
import type { Part } from './part.js';

/** From the start of the process until it is ready, on a data folder that was used before. */
export const startPart: Part = {
  name: 'start',
  async run(context) {
    const folder = await context.usedFolder();
    const plan = {
      title: 'Start on an existing data folder, until it is ready',
      measure: 'time',
      ours: berthSide('npm start', 'npm start', folder, context),
      limits: [nodeSide(context), berthSide('node apps/standalone/dist/main.js', 'program', folder, context)],
    } as const;
    return [await compare(plan, context.effort.longRounds)];
  },
};

const berthSide = (name: string, launch: Launch, folder: string, { env }: BenchContext): Side => {
  const start = async (): Promise<number> => {
    const berth = await BerthProgram.start(folder, env, { launch });
    await berth.stop();
    return berth.program.startedInMs;
  };
  // The folder was used a moment ago, so the page cache contains the files that a start reads.
  return { name, warmUp: () => Promise.resolve(), round: () => repeatTimes(1, start) };
};

const nodeSide = ({ env }: BenchContext): Side => {
  const start = async (): Promise<number> => {
    const { program, url } = await startEcho(env);
    const direct = new ApiClient(url);
    const respondedInMs = await timed(() => direct.call('GET', '/health'));
    await direct.close();
    await program.stop();
    return program.startedInMs + respondedInMs;
  };
  return {
    name: 'spawn of node until its HTTP server responds',
    warmUp: start,
    round: () => repeatTimes(3, start),
  };
};

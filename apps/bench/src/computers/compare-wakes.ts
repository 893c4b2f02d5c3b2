import type { BenchContext } from '../context.js';
import { compare, type Comparison, type Side } from '../measure/compare.js';
import { repeatTimes, timed } from '../measure/loops.js';
import { startBareDesktop } from './bare-desktop.js';
import type { BenchComputer } from './bench-computer.js';

export const warmWake = async ({ effort }: BenchContext, computer: BenchComputer): Promise<Comparison> => {
  const wake = async (): Promise<number> => {
    await computer.sleep();
    return timed(() => computer.screenshot());
  };
  const shoot = () => timed(() => computer.screenshot());
  const side = (name: string, work: () => Promise<number>): Side => ({
    name,
    warmUp: () => repeatTimes(2, work),
    round: () => repeatTimes(effort.warmWakes, work),
  });
  return compare(
    {
      title: 'Warm wake: a screenshot of a computer whose processes are frozen',
      measure: 'time',
      ours: side('a screenshot wakes the computer', wake),
      limits: [side('a screenshot of the computer awake', shoot)],
    },
    effort.rounds,
  );
};

export const coldWake = async (context: BenchContext, computer: BenchComputer): Promise<Comparison> => {
  const { effort, env } = context;
  const wake = async (): Promise<number> => {
    await computer.sleepCold();
    return timed(() => computer.screenshot());
  };
  const bare = async (): Promise<number> => {
    const desktop = await startBareDesktop(context.file('bare-desktop'), env);
    await desktop.stop();
    return desktop.startedInMs;
  };
  const side = (name: string, work: () => Promise<number>): Side => ({
    name,
    warmUp: work,
    round: () => repeatTimes(effort.coldWakes, work),
  });
  return compare(
    {
      title: 'Cold wake: a screenshot of a computer whose processes are gone',
      measure: 'time',
      ours: side('a screenshot starts the computer', wake),
      limits: [side('Xvnc until it accepts clients, then openbox', bare)],
    },
    effort.longRounds,
  );
};

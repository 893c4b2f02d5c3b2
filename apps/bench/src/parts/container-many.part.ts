import { ContainerHost } from '../containers/container-host.js';
import { settledUse } from '../containers/host-use.js';
import type { BenchContext } from '../context.js';
import { AgentShell } from '../exec/agent-shell.js';
import type { Inventory } from '../measure/inventory.js';
import { repeatTimes, timed } from '../measure/loops.js';
import type { BerthProgram } from '../programs/berth-program.js';
import type { Part } from './part.js';

const AT_A_TIME = 4;
const COMMANDS = 30;

/** Many agents on one host, few of them awake: what the host spends, and whether they still respond at once. */
export const containerManyPart: Part = {
  name: 'container-many',
  needs: 'containers',
  async run(context) {
    const berth = await ContainerHost.of(context).berth(context);
    try {
      return [await measure(context, berth)];
    } finally {
      await berth.removeAgents();
      await berth.stop();
    }
  },
};

const measure = async ({ scale }: BenchContext, berth: BerthProgram): Promise<Inventory> => {
  const { agents, awake } = scale;
  const before = await settledUse(berth.program.pid);
  const first = await berth.createAgent('first', 'blank');
  const alone = await commandMs(berth, first);
  const asleep = agents - awake;
  const createdMs = await timed(() => createAsleep(berth, asleep));
  for (let index = 1; index < awake; index++) await berth.createAgent(`awake ${index}`, 'blank');
  const now = await settledUse(berth.program.pid);
  return {
    kind: 'inventory',
    title: `${agents} agents in containers on one host, ${awake} of them awake`,
    unit: '',
    items: [
      { name: 'processes that they add', value: now.processes - before.processes },
      { name: 'mounts that they add', value: now.mounts - before.mounts },
      { name: 'memory that they add, MB', value: now.megabytes - before.megabytes },
      { name: '"true" in an agent, alone on the host, p50 ms', value: alone },
      { name: '"true" in the same agent among all, p50 ms', value: await commandMs(berth, first) },
      {
        name: `creation and sleep of an agent, ${AT_A_TIME} at a time, ms each`,
        value: createdMs / Math.max(1, asleep),
      },
    ],
  };
};

const createAsleep = async (berth: BerthProgram, count: number): Promise<void> => {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const agent = await berth.createAgent(`asleep ${(next += 1)}`, 'blank');
      await berth.sleepCold(agent);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
};

const commandMs = async (berth: BerthProgram, agent: string): Promise<number> => {
  const shell = new AgentShell(berth.api, agent);
  const once = (): Promise<number> => timed(() => shell.run('true'));
  await repeatTimes(COMMANDS, once);
  const { p50 } = await repeatTimes(COMMANDS, once);
  await shell.close();
  return p50 ?? 0;
};

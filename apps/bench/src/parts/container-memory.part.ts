import { ContainerHost } from '../containers/container-host.js';
import { settledUse, useOfEach, type HostUse } from '../containers/host-use.js';
import type { BenchContext } from '../context.js';
import type { Inventory } from '../measure/inventory.js';
import type { BerthProgram } from '../programs/berth-program.js';
import type { Part } from './part.js';

/** Long enough to look at agents that sleep warm. */
const WARM_SECONDS = 30;

/** What the host spends on each agent in a container: awake, warm and cold. */
export const containerMemoryPart: Part = {
  name: 'container-memory',
  needs: 'containers',
  async run(context) {
    const host = ContainerHost.of(context);
    const berth = await host.berth(context, { BERTH_WARM_SLEEP_SECONDS: String(WARM_SECONDS) });
    try {
      return await measure(context, berth);
    } finally {
      await berth.removeAgents();
      await berth.stop();
    }
  },
};

const measure = async ({ scale }: BenchContext, berth: BerthProgram): Promise<readonly Inventory[]> => {
  const before = await settledUse(berth.program.pid);
  const agents: string[] = [];
  for (let index = 0; index < scale.awake; index++)
    agents.push(await berth.createAgent(`memory ${index}`, 'blank'));
  const awake = await settledUse(berth.program.pid);
  await Promise.all(agents.map((agent) => berth.sleep(agent)));
  const warm = await settledUse(berth.program.pid);
  await Promise.all(agents.map((agent) => berth.untilCold(agent, WARM_SECONDS)));
  const cold = await settledUse(berth.program.pid);
  const each = (now: HostUse): HostUse => useOfEach(before, now, agents.length);
  const states = { awake: each(awake), 'asleep, warm': each(warm), 'asleep, cold': each(cold) };
  const title = `for each agent in a container (of ${agents.length})`;
  const inventory = (what: string, unit: string, of: (use: HostUse) => number): Inventory => ({
    kind: 'inventory',
    title: `${what} of the host ${title}`,
    unit,
    items: Object.entries(states).map(([name, use]) => ({ name, value: of(use) })),
  });
  return [
    inventory('Memory', 'MB', ({ megabytes }) => megabytes),
    inventory('Processes', 'processes', ({ processes }) => processes),
    inventory('Mounts', 'mounts', ({ mounts }) => mounts),
  ];
};

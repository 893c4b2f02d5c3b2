import { setTimeout as sleep } from 'node:timers/promises';
import { kindOf, processTree, type ProcessMemory } from '../programs/process-memory.js';
import type { Inventory } from '../measure/inventory.js';
import type { Part } from './part.js';

/** Long enough for garbage collection and pending writes after the start. */
const REST_MS = 3_000;

/** Memory of the idle processes, without an agent and with one. */
export const memoryPart: Part = {
  name: 'memory',
  async run(context) {
    await context.usedFolder();
    const berth = await context.berth();
    await sleep(REST_MS);
    const before = await processTree(berth.program.pid);
    const agent = await berth.createEcho('memory bench');
    await berth.chat(agent);
    await sleep(REST_MS);
    const earlier = new Set(before.map(({ pid }) => pid));
    const added = (await processTree(berth.program.pid)).filter(({ pid }) => !earlier.has(pid));
    return [
      inventory('Memory at rest, without agents', before, berth.program.pid),
      inventory('Memory of one more echo agent', added, 0),
    ];
  },
};

const inventory = (title: string, processes: readonly ProcessMemory[], root: number): Inventory => {
  const sums = new Map<string, number>();
  for (const one of processes) {
    const kind = kindOf(one, root);
    sums.set(kind, (sums.get(kind) ?? 0) + one.megabytes);
  }
  const items = [...sums].map(([name, value]) => ({ name, value }));
  const total = processes.reduce((sum, one) => sum + one.megabytes, 0);
  return { kind: 'inventory', title, unit: 'MB', items: [...items, { name: 'together', value: total }] };
};

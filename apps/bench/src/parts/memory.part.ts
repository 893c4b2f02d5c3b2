import { setTimeout as sleep } from 'node:timers/promises';
import { memoryInventory } from '../measure/memory-inventory.js';
import { processTree } from '../programs/process-memory.js';
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
      memoryInventory('Memory at rest, without agents', before, berth.program.pid),
      memoryInventory('Memory of one more echo agent', added),
    ];
  },
};

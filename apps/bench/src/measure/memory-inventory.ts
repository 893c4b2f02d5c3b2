import { kindOf, type ProcessMemory } from '../programs/process-memory.js';
import type { Inventory } from './inventory.js';

/** The memory of processes by their kind, and together; `root` is the process of all services, if it is one of them. */
export const memoryInventory = (title: string, processes: readonly ProcessMemory[], root = 0): Inventory => {
  const sums = new Map<string, number>();
  for (const one of processes) {
    const kind = kindOf(one, root);
    sums.set(kind, (sums.get(kind) ?? 0) + one.megabytes);
  }
  const items = [...sums].map(([name, value]) => ({ name, value }));
  const total = processes.reduce((sum, one) => sum + one.megabytes, 0);
  return { kind: 'inventory', title, unit: 'MB', items: [...items, { name: 'together', value: total }] };
};

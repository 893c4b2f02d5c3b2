import type { Driver } from '../driver/driver.js';
import type { BoxedGuest } from './boxed-guest.js';
import type { RecordKeeper } from './record-keeper.js';

const OUT_OF_MEMORY = 'The agent used all of its memory, and the kernel ended its program.';

/**
 * Reports that a program was killed for lack of memory, if it was. The guest restarts a program that was killed, and
 * cannot see why it was.
 */
export const explainKill = async (guest: BoxedGuest, driver: Driver, keeper: RecordKeeper): Promise<void> => {
  const stats = await driver.stats(guest.box.agentId);
  if (!guest.hasRunOutOfMemory(stats?.oomKills ?? 0)) return;
  await keeper.log('error', OUT_OF_MEMORY);
  keeper.report({ type: 'out_of_memory', message: OUT_OF_MEMORY });
};

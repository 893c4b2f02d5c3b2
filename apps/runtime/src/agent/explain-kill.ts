import type { BoxedGuest } from './boxed-guest.js';
import type { HostedAgentDeps } from './hosted-agent-deps.js';
import type { RecordKeeper } from './record-keeper.js';

const OUT_OF_MEMORY = 'The agent used all of its memory, and the kernel ended its program.';

/**
 * Reports that a program was killed for lack of memory, if it was; any other kill is in the operator's log, because the
 * kernel also kills programs when the whole machine is out of memory. The guest restarts a program that was killed, and
 * cannot see why it was.
 */
export const explainKill = async (
  guest: BoxedGuest,
  keeper: RecordKeeper,
  { driver, log }: Pick<HostedAgentDeps, 'driver' | 'log'>,
): Promise<void> => {
  const { agentId } = guest.box;
  const stats = await driver.stats(agentId);
  if (!guest.hasRunOutOfMemory(stats?.oomKills ?? 0)) {
    log.warn({ agentId }, 'a program was killed; the memory limit of its agent was not the reason');
    return;
  }
  await keeper.log('error', OUT_OF_MEMORY);
  keeper.report({ type: 'out_of_memory', message: OUT_OF_MEMORY });
};

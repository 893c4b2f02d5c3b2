import { setTimeout as delay } from 'node:timers/promises';
import { signalAll } from '../processes.fixture.js';
import type { ContainerLane } from './container-lane.fixture.js';
import { firstProcessOf, shimsOf } from './host-inventory.fixture.js';
import type { Plan } from './plan.fixture.js';

const ARRIVED_WITHIN_MS = 15_000;
const FOUND_WITHIN_MS = 3_000;
/** How long containerd stays down after it was killed. */
const AWAY_MS = 1_000;
/** Longer than the runtime's time limit: for containerd its responses, for the others a call to nerdctl. */
const HUNG_MS = { containerd: 6_000, nerdctl: 23_000, shim: 23_000, guest: 23_000 } as const;

/** Injects the planned fault when the armed call arrives. Resolves when the fault is over; returns whether it happened. */
export const strike = async (
  { nerdctl, containerd, place }: ContainerLane,
  plan: Plan,
  log: (what: string) => void,
): Promise<boolean> => {
  const before = shimsOf(place.namespace);
  const { victim, how, phase, call, afterMs } = plan;
  const caller = await nerdctl.arrival(AbortSignal.timeout(ARRIVED_WITHIN_MS));
  if (caller === undefined) return false;
  log(`nerdctl ${call} arrived`);
  if (phase === 'within') await delay(afterMs);
  const find = (): number | undefined => {
    if (victim === 'nerdctl') return caller;
    if (victim === 'containerd') return containerd.pid;
    const isNew = call === 'run' || call === 'start';
    const shim = shimsOf(place.namespace).find((pid) => !isNew || !before.includes(pid));
    return shim === undefined || victim === 'shim' ? shim : firstProcessOf(shim);
  };
  const pid = await found(find);
  if (pid === undefined) {
    nerdctl.openGate();
    return false;
  }
  signalAll([pid], how === 'kill' ? 'SIGKILL' : 'SIGSTOP');
  log(`${victim} ${how}`);
  nerdctl.openGate();
  if (how === 'hang') {
    await delay(HUNG_MS[victim]);
    signalAll([pid], 'SIGCONT');
  } else if (victim === 'containerd') {
    await delay(AWAY_MS);
    await containerd.startAgain();
  }
  log('the fault is over');
  return true;
};

const found = async (find: () => number | undefined): Promise<number | undefined> => {
  const giveUpAt = performance.now() + FOUND_WITHIN_MS;
  for (;;) {
    const pid = find();
    if (pid !== undefined || performance.now() > giveUpAt) return pid;
    await delay(2);
  }
};

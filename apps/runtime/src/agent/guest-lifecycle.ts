import { detach } from '@berth/kernel';
import type { StartAgent } from '@berth/contracts/runtime';
import type { Driver } from '../driver/driver.js';
import { stayAwakeForRunning } from '../execution/follow-execution.js';
import type { Life } from './agent-life.js';
import { NO_BOX, startingRecord } from './agent-record.js';
import type { AgentStarter } from './agent-starter.js';
import { BoxedGuest } from './boxed-guest.js';
import type { HostedAgentDeps } from './hosted-agent-deps.js';
import type { RecordKeeper } from './record-keeper.js';

/** Starts an agent's guest and program. Saves the record before each step, so that it always covers what may exist. */
export const startGuest = async (
  starter: AgentStarter,
  keeper: RecordKeeper,
  request: StartAgent,
  interrupt: AbortSignal,
): Promise<BoxedGuest> => {
  starter.assertRoom();
  await keeper.save(startingRecord(request));
  await keeper.log('info', 'Starting.');
  const started = await starter.start(request, interrupt, (made) =>
    keeper.save({ box: made.record, boxEpoch: request.epoch, startedAt: new Date().toISOString() }),
  );
  await keeper.save({ guest: started.guest });
  return new BoxedGuest(started.box, { guest: started.guest }, started);
};

/** Takes over the guest that an earlier process of this host left; ends it if that is impossible. */
export const findGuest = async (
  { driver, starter }: Pick<HostedAgentDeps, 'driver' | 'starter'>,
  keeper: RecordKeeper,
): Promise<BoxedGuest | undefined> => {
  const { agentId, box: recorded, guest } = keeper.record;
  const box = guest === null ? undefined : await driver.find(agentId, recorded);
  if (guest !== null && box !== undefined) {
    return new BoxedGuest(box, { guest }, await starter.link(box), { adopted: true });
  }
  return dropBox({ driver }, keeper);
};

/** Ends what is left of an agent's box, and removes it from the record. */
export const dropBox = async (
  { driver }: Pick<HostedAgentDeps, 'driver'>,
  keeper: RecordKeeper,
): Promise<undefined> => {
  await driver.stop(keeper.record.agentId, 0);
  await keeper.save(NO_BOX);
};

/** Freezes a guest, which accepts no requests from here on; returns false if that failed, so that its processes run. */
export const freezeGuest = async (
  { driver, log }: Pick<HostedAgentDeps, 'driver' | 'log'>,
  agentId: string,
  guest: BoxedGuest,
): Promise<boolean> => {
  guest.rest();
  try {
    await driver.freeze(agentId);
    return true;
  } catch (error) {
    log.error({ agentId, err: error }, 'could not freeze an agent');
    return false;
  } finally {
    guest.halt();
  }
};

/** Makes a guest accept commands again; commands that are already running keep the agent awake. */
export const reopen = async (guest: BoxedGuest): Promise<void> => {
  await guest.reopen();
  detach(stayAwakeForRunning(guest));
};

/** Ends a guest, gracefully if `graceMs` allows, and then every process of the agent. */
export const endGuest = async (
  driver: Driver,
  agentId: string,
  life: Life,
  graceMs: number,
): Promise<void> => {
  const guest = 'guest' in life ? life.guest : undefined;
  guest?.rest();
  let ended = false;
  try {
    if (guest !== undefined && graceMs > 0) {
      if (life.at === 'frozen') await driver.thaw(agentId);
      await guest.shutDown(graceMs);
    }
    await driver.stop(agentId, guest === undefined ? 0 : graceMs);
    ended = true;
  } finally {
    await guest?.close(ended);
  }
};

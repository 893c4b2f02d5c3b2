import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { XConnection } from '../x11/x-connection.js';
import { packRequest, u32, u8 } from '../x11/x-packing.js';

const LOCAL_PROCESS = 2;
/** How often the program is looked at, and how often in a row it must have slept in between. */
const LOOK_MS = 15;
const SLEPT_TIMES = 3;

/** Finds the id of the process that has made a window; undefined if the server does not know it. */
export type FindProcess = (window: number) => Promise<number | undefined>;

export const openProcesses = async (connection: XConnection): Promise<FindProcess> => {
  const extension = await connection.extension('X-Resource');
  if (extension === undefined) return () => Promise.resolve(undefined);
  await connection.ask(packRequest(extension.opcode, 0, u8(1, 2, 0, 0)));
  return async (window) => {
    const queryClientIds = 4;
    const reply = await connection.ask(
      packRequest(extension.opcode, queryClientIds, u32(1, window, LOCAL_PROCESS)),
    );
    return reply.readUInt32LE(8) === 0 || reply.length < 48 ? undefined : reply.readUInt32LE(44);
  };
};

/**
 * Resolves when a program has slept for a while: then it has read all events that the server has sent it, because unread
 * ones would have woken it. Resolves with false if its process cannot be seen.
 */
export const asleep = async (connection: XConnection, pid: number, mostMs: number): Promise<boolean> => {
  const endsAt = performance.now() + mostMs;
  let before = '';
  for (let slept = 0; slept < SLEPT_TIMES && performance.now() < endsAt;) {
    // A program that waits for an answer of the server sleeps too.
    await connection.sync();
    await delay(LOOK_MS);
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => undefined);
    if (status === undefined) return false;
    const switches = status.match(/^(State:\s+S|\w*voluntary_ctxt_switches:.*)/gm) ?? [];
    const now = switches.join();
    slept = now === before && now.startsWith('State') ? slept + 1 : 0;
    before = now;
  }
  return true;
};

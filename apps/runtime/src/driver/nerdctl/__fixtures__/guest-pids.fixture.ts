import { readFileSync, readlinkSync, statSync } from 'node:fs';
import type { StartedBox } from '../../driver-contract/driver.fixture.js';
import { listPids } from '../../process-table.js';

/** Process 1 of a container and the guest that it has started, by their numbers inside. */
export const guestPidsInside = async ({ box }: StartedBox): Promise<readonly number[]> => {
  const { guest } = box.record as { readonly guest: { readonly pid: number } };
  const traits = traitsOf(guest.pid);
  const pids = (await listPids()).filter((pid) => traitsOf(pid) === traits);
  return pids.map((pid) =>
    Number(/^NSpid:.*\s(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]),
  );
};

/** The user and the namespace of a process; undefined once it has exited. */
const traitsOf = (pid: number): string | undefined => {
  try {
    return `${statSync(`/proc/${pid}`).uid} ${readlinkSync(`/proc/${pid}/ns/pid`)}`;
  } catch {
    return undefined;
  }
};

import type { RunAs } from '../driver.js';
import { removeFromKernel, removeSharedFiles } from './leftovers.js';
import type { UidAllocation } from './uid-allocation.js';

/** The users of agents and tasks. None finds what an earlier one of its id has left on the host. */
export class AgentUsers {
  constructor(
    private readonly uids: UidAllocation,
    /** Whether agents see the folders that all users of the host share. */
    private readonly seeSharedFolders: boolean,
  ) {}

  async of(id: string): Promise<RunAs> {
    const isNew = this.uids.find(id) === undefined;
    const uid = await this.uids.allocate(id);
    if (isNew && this.seeSharedFolders) await this.#removeLeftovers(uid);
    return { uid, gid: uid };
  }

  /** Call it when no process of the user is left. */
  async release(id: string): Promise<void> {
    const uid = this.uids.find(id);
    if (uid === undefined) return;
    await this.#removeLeftovers(uid);
    await this.uids.release(id);
  }

  async #removeLeftovers(uid: number): Promise<void> {
    if (this.seeSharedFolders) await removeSharedFiles(uid);
    await removeFromKernel(uid);
  }
}

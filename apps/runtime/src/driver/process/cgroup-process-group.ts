import { rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExecutionGroupsParent } from '@berth/guest-protocol';
import { becomesTrue } from '../../poll.js';
import { BoxCgroups, COMPLETE_WITHIN_MS } from '../cgroup/box-cgroups.js';
import { removeGroup, type Hierarchy } from '../cgroup/cgroup-hierarchies.js';
import { limitGroup } from '../cgroup/group-limits.js';
import { joinFileOf } from '../cgroup/join-file.js';
import { makeGroup } from '../cgroup/make-group.js';
import { DriverError } from '../driver-error.js';
import type { BoxStats } from '../driver.js';
import type { ProcessGroup, ProcessGroupLimits } from './process-group.js';
import { signal } from '../process-table.js';

/** One cgroup per agent: its processes cannot leave it, and the kernel freezes it as a whole. */
export class CgroupProcessGroup implements ProcessGroup {
  readonly #cgroups: BoxCgroups;

  constructor(private readonly hierarchies: readonly Hierarchy[]) {
    this.#cgroups = new BoxCgroups(hierarchies);
  }

  async create(agentId: string, limits: ProcessGroupLimits): Promise<readonly string[]> {
    return Promise.all(
      this.hierarchies.map(async (hierarchy) => {
        const folder = join(hierarchy.folder, agentId);
        await makeGroup(folder);
        await limitGroup(hierarchy, folder, limits);
        return joinFileOf(hierarchy, folder);
      }),
    );
  }

  executionGroups(agentId: string): ExecutionGroupsParent | undefined {
    const hierarchy =
      this.hierarchies.find(({ version }) => version === 2) ??
      this.hierarchies.find(({ controllers }) => controllers.includes('pids'));
    return hierarchy && { version: hierarchy.version, folder: join(hierarchy.folder, agentId) };
  }

  pids(agentId: string): Promise<readonly number[]> {
    return this.#cgroups.pids(agentId);
  }

  freeze(agentId: string): Promise<void> {
    return this.#cgroups.freeze(agentId);
  }

  thaw(agentId: string): Promise<void> {
    return this.#cgroups.thaw(agentId);
  }

  isFrozen(agentId: string): Promise<boolean> {
    return this.#cgroups.isFrozen(agentId);
  }

  stats(agentId: string): Promise<BoxStats | null> {
    return this.#cgroups.stats(agentId);
  }

  async kill(agentId: string): Promise<void> {
    // A process that was just launched may still join while the others die; only the removed groups prove that none is
    // left.
    const gone = async (): Promise<boolean> =>
      (await this.#killRound(agentId)) && (await this.#removeGroups(agentId));
    if (!(await becomesTrue(gone, COMPLETE_WITHIN_MS)))
      throw new DriverError('box_stuck', 'The processes of the agent could not be ended.');
  }

  list(): Promise<readonly string[]> {
    return this.#cgroups.list();
  }

  async close(): Promise<void> {
    // Fails, as intended, while the folder still contains groups of agents.
    for (const { folder } of this.hierarchies) await rmdir(folder).catch(() => undefined);
  }

  /** One round of killing; resolves with true if no process is left. */
  async #killRound(agentId: string): Promise<boolean> {
    const pids = await this.pids(agentId);
    if (pids.length === 0) return true;
    if (this.#cgroups.freezer.version === 2) {
      const all = await writeFile(this.#cgroups.file(agentId, 'cgroup.kill'), '1').then(
        () => true,
        () => false,
      );
      if (all) return false;
    }
    // Freeze first, so that no process can fork between the listing and its kill; they die once thawed.
    try {
      await this.#cgroups.setFrozen(agentId, true);
      for (const pid of await this.pids(agentId)) signal(pid, 'SIGKILL');
      await this.#cgroups.setFrozen(agentId, false);
    } catch (error) {
      // A concurrent kill removed the groups, because no process was left.
      if (!(error instanceof DriverError && error.code === 'box_absent')) throw error;
    }
    return false;
  }

  /** The kernel releases groups shortly after their last process has left the list. */
  async #removeGroups(agentId: string): Promise<boolean> {
    const removals = this.hierarchies.map(({ folder }) => removeGroup(join(folder, agentId)));
    return (await Promise.all(removals)).every(Boolean);
  }
}

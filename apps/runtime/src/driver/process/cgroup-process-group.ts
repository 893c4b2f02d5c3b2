import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { becomesTrue } from '../../poll.js';
import type { Hierarchy } from './cgroup-hierarchies.js';
import { OBEYED_WITHIN_MS, type ProcessGroup, type ProcessGroupLimits } from './process-group.js';
import { signal } from './process-table.js';

/** One cgroup per agent: its processes cannot leave it, and the kernel freezes it as a whole. */
export class CgroupProcessGroup implements ProcessGroup {
  readonly #freezer: Hierarchy;

  constructor(private readonly hierarchies: readonly Hierarchy[]) {
    const freezer = hierarchies.find(({ freezes }) => freezes);
    if (freezer === undefined) throw new Error('None of the cgroup hierarchies can freeze.');
    this.#freezer = freezer;
  }

  async create(agentId: string, limits: ProcessGroupLimits): Promise<readonly string[]> {
    return Promise.all(
      this.hierarchies.map(async (hierarchy) => {
        const folder = join(hierarchy.folder, agentId);
        await mkdir(folder, { recursive: true });
        await limit(hierarchy, folder, limits);
        return join(folder, 'cgroup.procs');
      }),
    );
  }

  async pids(agentId: string): Promise<readonly number[]> {
    const text = await readFile(this.#file(agentId, 'cgroup.procs'), 'utf8').catch(() => '');
    // The kernel lists processes outside our PID namespace as 0.
    return text
      .split('\n')
      .map(Number)
      .filter((pid) => pid > 0);
  }

  async freeze(agentId: string): Promise<void> {
    await this.#setFrozen(agentId, true);
    if (await becomesTrue(() => this.isFrozen(agentId), OBEYED_WITHIN_MS)) return;
    await this.#setFrozen(agentId, false);
    throw new Error('The processes of the agent could not be frozen.');
  }

  async thaw(agentId: string): Promise<void> {
    await this.#setFrozen(agentId, false);
    if (!(await becomesTrue(async () => !(await this.isFrozen(agentId)), OBEYED_WITHIN_MS))) {
      throw new Error('The processes of the agent could not be thawed.');
    }
  }

  async isFrozen(agentId: string): Promise<boolean> {
    if (this.#freezer.version === 2) {
      const events = await readFile(this.#file(agentId, 'cgroup.events'), 'utf8').catch(() => '');
      return /^frozen 1$/m.test(events);
    }
    const state = await readFile(this.#file(agentId, 'freezer.state'), 'utf8').catch(() => '');
    return state.trim() === 'FROZEN';
  }

  async kill(agentId: string): Promise<void> {
    // A process that was just launched may still join while the others die; only the removed groups prove that none is
    // left.
    const gone = async (): Promise<boolean> =>
      (await this.#killRound(agentId)) && (await this.#removeGroups(agentId));
    if (!(await becomesTrue(gone, OBEYED_WITHIN_MS))) {
      throw new Error('The processes of the agent could not be ended.');
    }
  }

  async list(): Promise<readonly string[]> {
    const entries = await readdir(this.#freezer.folder, { withFileTypes: true }).catch(() => []);
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  }

  async close(): Promise<void> {
    // Fails, as intended, while the folder still contains groups of agents.
    for (const { folder } of this.hierarchies) await rmdir(folder).catch(() => undefined);
  }

  /** One round of killing; resolves with true if no process is left. */
  async #killRound(agentId: string): Promise<boolean> {
    const pids = await this.pids(agentId);
    if (pids.length === 0) return true;
    if (this.#freezer.version === 2) {
      const all = await writeFile(this.#file(agentId, 'cgroup.kill'), '1').then(
        () => true,
        () => false,
      );
      if (all) return false;
    }
    // Freeze first, so that no process can fork between the listing and its kill; they die once thawed.
    await this.#setFrozen(agentId, true);
    for (const pid of await this.pids(agentId)) signal(pid, 'SIGKILL');
    await this.#setFrozen(agentId, false);
    return false;
  }

  /**
   * Returns whether all groups are removed; the kernel releases them shortly after their last process has left the
   * list.
   */
  async #removeGroups(agentId: string): Promise<boolean> {
    const removals = this.hierarchies.map(({ folder }) =>
      rmdir(join(folder, agentId)).then(
        () => true,
        (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT',
      ),
    );
    return (await Promise.all(removals)).every(Boolean);
  }

  async #setFrozen(agentId: string, frozen: boolean): Promise<void> {
    if (this.#freezer.version === 2)
      await writeFile(this.#file(agentId, 'cgroup.freeze'), frozen ? '1' : '0');
    else await writeFile(this.#file(agentId, 'freezer.state'), frozen ? 'FROZEN' : 'THAWED');
  }

  #file(agentId: string, name: string): string {
    return join(this.#freezer.folder, agentId, name);
  }
}

const limit = async (hierarchy: Hierarchy, folder: string, limits: ProcessGroupLimits): Promise<void> => {
  const [memory, processes] =
    hierarchy.version === 2 ? ['memory.max', 'pids.max'] : ['memory.limit_in_bytes', 'pids.max'];
  if (hierarchy.limits.includes('memory')) await writeFile(join(folder, memory), String(limits.memoryBytes));
  if (hierarchy.limits.includes('pids')) await writeFile(join(folder, processes), String(limits.processes));
};

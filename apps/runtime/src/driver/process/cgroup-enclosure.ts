import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { becomesTrue } from '../../poll.js';
import type { Hierarchy } from './cgroup-hierarchies.js';
import { OBEYED_WITHIN_MS, type Enclosure, type EnclosureLimits } from './enclosure.js';
import { signal } from './process-table.js';

/** A control group for each agent: no process leaves it, and the kernel freezes it as a whole. */
export class CgroupEnclosure implements Enclosure {
  readonly #freezer: Hierarchy;

  constructor(private readonly hierarchies: readonly Hierarchy[]) {
    const freezer = hierarchies.find(({ freezes }) => freezes);
    if (freezer === undefined) throw new Error('No hierarchy of cgroups can freeze.');
    this.#freezer = freezer;
  }

  async create(agentId: string, limits: EnclosureLimits): Promise<readonly string[]> {
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
    // 0 stands for a process that our own namespace does not see.
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
    // One that was just launched may join while the others die: the groups being gone is the proof.
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
    // What holds groups of agents still stays.
    for (const { folder } of this.hierarchies) await rmdir(folder).catch(() => undefined);
  }

  /** One round of killing; whether nobody is left. */
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
    // Frozen, none of them can fork away between the listing and its kill; thawed, they die.
    await this.#setFrozen(agentId, true);
    for (const pid of await this.pids(agentId)) signal(pid, 'SIGKILL');
    await this.#setFrozen(agentId, false);
    return false;
  }

  /** Whether none is left; the kernel lets go of the dead a moment after they have left the list. */
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

const limit = async (hierarchy: Hierarchy, folder: string, limits: EnclosureLimits): Promise<void> => {
  const [memory, processes] =
    hierarchy.version === 2 ? ['memory.max', 'pids.max'] : ['memory.limit_in_bytes', 'pids.max'];
  if (hierarchy.limits.includes('memory')) await writeFile(join(folder, memory), String(limits.memoryBytes));
  if (hierarchy.limits.includes('pids')) await writeFile(join(folder, processes), String(limits.processes));
};

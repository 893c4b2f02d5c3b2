import { chmod, chown, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExecutionGroupsParent } from '@berth/guest-protocol';
import { becomesTrue } from '../../poll.js';
import { removeGroup, type Hierarchy } from '../cgroup/cgroup-hierarchies.js';
import { limitGroup, LIMITING, type GroupLimits } from '../cgroup/group-limits.js';
import { joinFileOf } from '../cgroup/join-file.js';
import { makeGroup } from '../cgroup/make-group.js';
import { INSIDE } from './paths-inside.js';

/** Limits of the guest, which is alone in its group with the programs that it is just about to start. */
export const GUEST_LIMITS: GroupLimits = { memoryBytes: 256 * 1024 * 1024, processes: 1_024 };

/** Names of the groups below that of a container, in version 2. */
const GUEST = 'guest';
const AGENT = 'agent';
const REMOVED_WITHIN_MS = 2_000;
const OWNER_ONLY = 0o600;

/** A file or folder of the host that the guest gets, to move the agent's processes into their group. */
export interface GroupMount {
  readonly from: string;
  readonly to: string;
}

/**
 * The control groups that limit the agent's own processes, beside the group of their guest: every process of the agent
 * joins them before it becomes the agent's (`joining`). In version 1 a group for each agent in each hierarchy that limits
 * something. In version 2 the kernel lets a process move itself only below the group that its control group namespace
 * begins with, and a group with groups below that limit something must have no processes itself: there the group of the
 * container gets two groups, for the guest and for the agent.
 */
export class AgentGroups {
  readonly #limiting: readonly Hierarchy[];

  constructor(
    hierarchies: readonly Hierarchy[],
    /** The name of the folder of `hierarchies`, below which nerdctl creates the groups of containers. */
    private readonly parent: string,
    /** The first ids of the agents' user namespaces. */
    private readonly ids: { readonly uid: number; readonly gid: number },
  ) {
    this.#limiting = hierarchies.filter(({ controllers }) =>
      LIMITING.some((controller) => controllers.includes(controller)),
    );
  }

  /** The folders and files inside that the groups are mounted on. */
  get mountPoints(): readonly { readonly path: string; readonly isFolder: boolean }[] {
    return this.#limiting.map((hierarchy) => ({ path: mountOf(hierarchy), isFolder: isFolder(hierarchy) }));
  }

  /** Prepares the groups of an agent without processes. `guest`: the user of its guest inside. */
  async create(agentId: string, limits: GroupLimits, guest: number): Promise<readonly GroupMount[]> {
    return Promise.all(
      this.#limiting.map(async (hierarchy) => {
        const folder = join(hierarchy.folder, agentId);
        await makeGroup(folder);
        if (hierarchy.version === 2) return { from: folder, to: mountOf(hierarchy) };
        await limitGroup(hierarchy, folder, limits);
        const file = joinFileOf(hierarchy, folder);
        await this.#give(file, guest);
        if (!isFolder(hierarchy)) return { from: file, to: mountOf(hierarchy) };
        await this.#giveFolder(folder, guest);
        return { from: folder, to: mountOf(hierarchy) };
      }),
    );
  }

  /** The parent group in which nerdctl creates the agent's container; undefined: nerdctl's default. */
  parentOf(agentId: string): string | undefined {
    return this.#isNested ? join('/', this.parent, agentId) : undefined;
  }

  /** Completes the groups of a container that has just been started. Returns the files inside for `joining`. */
  async complete(
    agentId: string,
    container: string,
    limits: GroupLimits,
    guest: number,
  ): Promise<readonly string[]> {
    return Promise.all(
      this.#limiting.map(async (hierarchy) => {
        if (hierarchy.version === 1)
          return isFolder(hierarchy) ? joinFileOf(hierarchy, mountOf(hierarchy)) : mountOf(hierarchy);
        await this.#divide(hierarchy, join(hierarchy.folder, agentId, container), limits, guest);
        return joinFileOf(hierarchy, join(mountOf(hierarchy), container, AGENT));
      }),
    );
  }

  /** The group below which the guest of a container makes groups for executions; undefined if there is none. */
  executionGroupsOf(container: string): ExecutionGroupsParent | undefined {
    const hierarchy =
      this.#limiting.find(({ version }) => version === 2) ?? this.#limiting.find((one) => isFolder(one));
    if (hierarchy === undefined) return undefined;
    const { version } = hierarchy;
    const folder = version === 2 ? join(mountOf(hierarchy), container, AGENT) : mountOf(hierarchy);
    return { version, folder };
  }

  /** The name of the group that freezes the container, for `BoxCgroups`. */
  nameOf(agentId: string, container: string): string {
    return this.#isNested ? join(agentId, container) : container;
  }

  /** The name of the group that limits the agent's processes, for `BoxCgroups`. */
  limitedOf(agentId: string, container: string): string {
    return this.#isNested ? join(agentId, container, AGENT) : agentId;
  }

  /** Removes the groups of an agent that has no processes any more. */
  async remove(agentId: string): Promise<void> {
    for (const { folder } of this.#limiting) {
      // The kernel releases a group shortly after its last process.
      await becomesTrue(() => removeGroup(join(folder, agentId)), REMOVED_WITHIN_MS);
    }
  }

  get #isNested(): boolean {
    return this.#limiting.some(({ version }) => version === 2);
  }

  async #divide(hierarchy: Hierarchy, folder: string, limits: GroupLimits, owner: number): Promise<void> {
    const [guest, agent] = [join(folder, GUEST), join(folder, AGENT)];
    for (const group of [guest, agent]) await makeGroup(group);
    for (const pid of (await readFile(join(folder, 'cgroup.procs'), 'utf8')).split('\n').filter(Boolean))
      await writeFile(join(guest, 'cgroup.procs'), pid);
    const limiting = LIMITING.filter((controller) => hierarchy.controllers.includes(controller));
    for (const controller of limiting)
      await writeFile(join(folder, 'cgroup.subtree_control'), `+${controller}`);
    await limitGroup(hierarchy, guest, GUEST_LIMITS);
    await limitGroup(hierarchy, agent, limits);
    if (limiting.includes('memory')) await writeFile(join(folder, 'memory.max'), 'max');
    if (limiting.includes('pids')) await writeFile(join(folder, 'pids.max'), 'max');
    // Who moves a process must be able to write to its new group and to the nearest group above both.
    for (const group of [folder, agent]) await this.#give(join(group, 'cgroup.procs'), owner);
    await this.#giveFolder(agent, owner);
  }

  /** Lets the guest make groups in the folder; the limits in it stay the host's. */
  async #giveFolder(folder: string, guest: number): Promise<void> {
    await chown(folder, this.ids.uid + guest, this.ids.gid + guest);
  }

  async #give(file: string, guest: number): Promise<void> {
    await chown(file, this.ids.uid + guest, this.ids.gid + guest);
    await chmod(file, OWNER_ONLY);
  }
}

/** In version 1, the guest makes the groups of executions where processes are limited. */
const isFolder = ({ version, controllers }: Hierarchy): boolean =>
  version === 2 || controllers.includes('pids');

/** A place that earlier versions of Berth used for a file has another name as a folder. */
const mountOf = (hierarchy: Hierarchy): string => {
  const ofVersion1 = isFolder(hierarchy) ? 'processes' : hierarchy.controllers.join(',');
  return join(INSIDE.groups, hierarchy.version === 2 ? 'unified' : ofVersion1);
};

import { pause } from '@berth/supervision';
import type { Logger } from '@berth/telemetry';
import { parseContainerList, type ListedContainer } from './container-list.js';
import { signal } from '../process-table.js';
import { killAll } from './container-processes.js';
import { ContainerRemoval } from './container-removal.js';
import { hasContainer } from './containerd-container.js';
import { assertContainerdResponds } from './containerd-probe.js';
import type { CallNerdctl } from './images/image-store.js';
import { LateFiles } from './late-files.js';
import { LeftoverContainers } from './leftover-containers.js';
import { listArguments, removeArguments } from './nerdctl-arguments.js';
import { removeFilesOf, removeForgottenFiles } from './nerdctl-files.js';
import type { NerdctlHost } from './nerdctl-host.js';
import { listShims } from './shims.js';

/** The containers that the driver knows. */
export interface KnownContainers {
  /** Ids of the containers by agent. */
  readonly containers: ReadonlyMap<string, string>;
  /** Agents and tasks that a container is being created for. */
  readonly creating: ReadonlySet<string>;
}

/** A removal whose turn has come takes longer only while a shim does not respond. Nothing waits for that. */
const REMOVED_WITHIN_MS = 2_000;
const CLOSED_WITHIN_MS = 3_000;
const SWEPT_WITHIN_MS = 1_000;

/** Removes containers that have ended, and those that failed calls have left. */
export class EndedContainers {
  /** The removals that `discarded` still waits for, by agent. */
  readonly #discarding = new Map<string, Promise<void>>();
  /** Containers that have ended and are not removed yet. */
  readonly #left = new Set<string>();
  readonly #removal = new ContainerRemoval((ids) => this.#remove(ids));
  readonly #leftovers: LeftoverContainers;
  readonly #lateFiles: LateFiles;

  constructor(
    private readonly call: CallNerdctl,
    private readonly host: () => NerdctlHost,
    private readonly known: KnownContainers,
    private readonly log: Logger,
  ) {
    this.#leftovers = new LeftoverContainers(
      {
        list: async () => {
          await assertContainerdResponds(host().address);
          return this.list();
        },
        isKnown: ({ agentId, id }) => known.creating.has(agentId) || known.containers.get(agentId) === id,
        remove: async ({ agentId, id }) => {
          await killAll(host().cgroups, host().groups.nameOf(agentId, id));
          await this.#removal.remove(id).ended;
          this.#left.delete(id);
        },
        forgetAllBut: (listed) => this.forgetAllBut(listed),
      },
      log,
    );
    this.#lateFiles = new LateFiles((containers) => removeFilesOf(host().scope, containers), log);
  }

  /** All containers of this installation. */
  async list(): Promise<readonly ListedContainer[]> {
    return parseContainerList(await this.call(listArguments(this.host().instance)));
  }

  /** A call has failed that may have left a container. */
  suspect(): void {
    this.#leftovers.suspect();
  }

  /** Removes the files and shims of other containers. Returns whether it could: not while one is being created. */
  async forgetAllBut(listed: readonly ListedContainer[]): Promise<boolean> {
    const { containers, creating } = this.known;
    if (creating.size > 0) return false;
    await this.#endShims();
    const exist = [...listed.map(({ id }) => id), ...containers.values()];
    await removeForgottenFiles(this.host().scope, new Set(exist));
    return true;
  }

  /**
   * Removes a container that has ended. Nothing of it is in use, so a removal that fails or takes long, because
   * containerd or the shim does not respond, is left to `LeftoverContainers`.
   */
  discard(agentId: string, container: string): void {
    const discarded = this.#discard(agentId, container).finally(() => this.#discarding.delete(agentId));
    this.#discarding.set(agentId, discarded);
  }

  /** Waits for the removal of the agent's container, and until nothing holds the agent's disk. */
  async discarded(agentId: string): Promise<void> {
    await this.#discarding.get(agentId);
  }

  /** Removes what failed calls have left until the signal aborts or the work `beside` ends. */
  async keepUp(signal: AbortSignal, beside: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const ended = new AbortController();
    const both = AbortSignal.any([signal, ended.signal]);
    try {
      await Promise.all([beside(both), this.#leftovers.keepUp(both), this.#lateFiles.keepUp(both)]);
    } finally {
      ended.abort();
    }
  }

  /** Waits a while for removals that are under way, and leaves no process of those that take longer. */
  async close(): Promise<void> {
    await atMost(CLOSED_WITHIN_MS, this.#removal.ended());
    const swept = this.#endShims().catch((error: unknown) => {
      this.log.warn({ err: error }, 'shims may be left');
    });
    await atMost(SWEPT_WITHIN_MS, swept);
  }

  /**
   * Ends the shims of containers that have ended, and of those that containerd does not have: a call that is cut off after
   * containerd has deleted a task, and before its shim has ended, leaves a shim that containerd has forgotten.
   */
  async #endShims(): Promise<void> {
    const { containerd } = this.host();
    const living = new Set(this.known.containers.values());
    const others = (await listShims(containerd.namespace)).filter(({ container }) => !living.has(container));
    for (const { pid, container } of others) if (this.#left.has(container)) signal(pid, 'SIGKILL');
    for (const { pid, container } of others)
      if (!(await hasContainer(containerd, container))) signal(pid, 'SIGKILL');
  }

  async #discard(agentId: string, container: string): Promise<void> {
    this.#left.add(container);
    const { begun, ended } = this.#removal.remove(container);
    const removal = ended.then(
      () => void this.#left.delete(container),
      (error: unknown) => {
        this.suspect();
        this.log.warn({ agentId, err: error }, 'an ended container could not be removed yet');
      },
    );
    await begun;
    await atMost(REMOVED_WITHIN_MS, removal);
    await this.host().groups.remove(agentId);
    if (!this.#left.has(container)) await this.#releaseDisk(agentId);
  }

  /** A container's root file system may be on the volume's disk. Nothing runs, so who holds the disk fails its next use only. */
  async #releaseDisk(agentId: string): Promise<void> {
    await this.host()
      .disks.release(agentId)
      .catch((error: unknown) => {
        this.log.warn({ agentId, err: error }, 'the disk of a stopped agent is still in use');
      });
  }

  async #remove(ids: readonly string[]): Promise<void> {
    const removed = await this.call(removeArguments(ids)).catch((error: unknown) => {
      // Even if the next call succeeds, this one may have left a shim.
      this.suspect();
      throw error;
    });
    // Exits with 0 even if it could not remove one; it prints those that it has removed.
    const left = ids.filter((id) => !removed.includes(id));
    if (left.length > 0 && (await this.list()).some(({ id }) => left.includes(id)))
      throw new Error('nerdctl rm did not remove a container.');
    this.#lateFiles.removed(ids);
  }
}

const atMost = async (ms: number, work: Promise<void>): Promise<void> => {
  const waited = new AbortController();
  await Promise.race([work, pause(ms, waited.signal)]);
  waited.abort();
};

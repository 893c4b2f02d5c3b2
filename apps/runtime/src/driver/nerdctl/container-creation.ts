import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BoxSpec } from '../box-spec.js';
import { isUnavailable } from '../driver-error.js';
import { killAll } from './container-processes.js';
import { createArguments } from './create-arguments.js';
import type { EndedContainers } from './ended-containers.js';
import { becomeGuestOfRoot } from './guest-of-root.js';
import type { CallNerdctl, ObtainedImage } from './images/image-store.js';
import { isCreatedFirst, startArguments } from './nerdctl-arguments.js';
import type { NerdctlDriverOptions, NerdctlHost } from './nerdctl-host.js';
import { ownMountPoints } from './own-mounts.js';
import { layOver, rootKey } from './writable-root.js';

export interface ContainerCreationMeans {
  readonly host: () => NerdctlHost;
  readonly call: CallNerdctl;
  /** The driver's `KnownContainers`; the creation adds to it. */
  readonly known: { readonly containers: Map<string, string>; readonly creating: Set<string> };
  readonly ended: Pick<EndedContainers, 'suspect'>;
  readonly options: Pick<NerdctlDriverOptions, 'subidUser' | 'operator'>;
}

/** A container that exists. */
export interface CreatedContainer {
  readonly id: string;
  /** See `assertOwnMounts`. */
  readonly ownMounts: readonly string[];
}

/** Creates and starts the containers of agents, and ends what a failed call has created. */
export class ContainerCreation {
  constructor(private readonly means: ContainerCreationMeans) {}

  /** Creates the container, and starts its guest unless `isCreatedFirst`. The driver knows its id then. */
  async create(spec: BoxSpec, image: ObtainedImage, disk: string): Promise<CreatedContainer> {
    const { host, call, known, options } = this.means;
    const { agentId } = spec;
    const idFile = join(host().ids, agentId);
    await rm(idFile, { force: true });
    const { subidUser, operator } = options;
    const runtimeClass = operator.current.runtime.class;
    const container = { subidUser, runtimeClass, image: image.bare, disk, idFile };
    known.creating.add(agentId);
    try {
      const args = await createArguments(spec, host(), container);
      await call(args);
      const id = await readFile(idFile, 'utf8');
      known.containers.set(agentId, id);
      return { id, ownMounts: ownMountPoints(args) };
    } catch (error) {
      await this.#endFailed(agentId, await readFile(idFile, 'utf8').catch(() => ''), error);
      throw error;
    } finally {
      known.creating.delete(agentId);
      await rm(idFile, { force: true });
    }
  }

  /** Prepares and starts a container that was only created. */
  async begin(spec: BoxSpec, image: ObtainedImage, container: string): Promise<void> {
    const { containerd, disks } = this.means.host();
    const { agentId, source, rootFileSystem, user } = spec;
    const isWritable = rootFileSystem === 'writable';
    const layer = await disks.rootLayer(agentId, isWritable ? rootKey(source, image.digest) : null);
    if (layer !== null) await layOver(containerd, container, layer);
    if (user === 'root') await becomeGuestOfRoot(containerd, container);
    if (isCreatedFirst(spec)) await this.#start(container);
  }

  async #start(container: string): Promise<void> {
    try {
      await this.means.call(startArguments(container));
    } catch (error) {
      // containerd may carry out the rest later, even after the container was removed.
      this.means.ended.suspect();
      throw error;
    }
  }

  /** Removes the container that a failed call may have created, and ends its processes. */
  async #endFailed(agentId: string, container: string, error: unknown): Promise<void> {
    const { host, known, ended } = this.means;
    ended.suspect();
    if (container === '') return;
    // The caller stops the agent. While containerd does not respond, that is left to `EndedContainers`.
    if (isUnavailable(error)) await killAll(host().cgroups, host().groups.nameOf(agentId, container));
    else known.containers.set(agentId, container);
  }
}

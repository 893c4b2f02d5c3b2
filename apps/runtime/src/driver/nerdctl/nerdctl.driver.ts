import { join } from 'node:path';
import type { Json } from '@berth/kernel';
import { agentFolders } from '../../agent/agent-folders.js';
import type { BoxSource, BoxSpec } from '../box-spec.js';
import {
  Driver,
  type Box,
  type BoxStats,
  type DriverCapabilities,
  type ListedBox,
  type PromisedDisk,
} from '../driver.js';
import { DriverError } from '../driver-error.js';
import type { ImageBuildEnd, ImageBuildSpec, TaskEnd, TaskSpec } from '../task-spec.js';
import { isAlive, readProcess, writtenBytes } from '../process-table.js';
import { refuseSource, refuseUnsupported } from '../requirements.plan.js';
import { ContainerBox, readContainerRecord } from './container-box.js';
import { assertContainerdResponds, containerdResponds } from './containerd-probe.js';
import { programOf, userOf } from './container-program.js';
import { killAll, letEnd } from './container-processes.js';
import { ContainerCreation } from './container-creation.js';
import { EndedContainers } from './ended-containers.js';
import { ImageBuilds } from './image-build/image-builds.js';
import { abortDownloads } from './images/damaged-downloads.js';
import { DesktopImage } from './images/desktop-image.js';
import { imageOfSource } from './images/image-of-source.js';
import { ImageStore, type CallNerdctl, type ObtainedImage } from './images/image-store.js';
import { limitInotify } from './inotify-limits.js';
import { nerdctlCapabilities } from './nerdctl-capabilities.js';
import { NerdctlProgram } from './nerdctl-program.js';
import { removeOldKits } from './old-kits.js';
import { openNerdctlHost, type NerdctlDriverOptions, type NerdctlHost } from './nerdctl-host.js';
import { assertOwnMounts } from './own-mounts.js';
import { guestUserOf } from './paths-inside.js';
import { assertBounded } from './writable-root.js';
import { runContainerTask, type ContainerTaskMeans } from './tasks/container-task.js';
import { commandRole, type TaskRole } from './tasks/task-role.js';

/** Delay between TERM and KILL for processes that outlive the agent's program. */
const LEFTOVER_GRACE_MS = 1_000;

/** Runs each agent in a container of its own with nerdctl; process 1 of the container starts the guest. */
export class NerdctlDriver extends Driver {
  override readonly name = 'nerdctl';
  readonly #boxes = new Map<string, ContainerBox>();
  /** Ids of the containers by agent. */
  readonly #containers = new Map<string, string>();
  readonly #images = new ImageStore(
    (args, options) => this.#nerdctl.call(args, options),
    () => this.#open.scratch,
    (downloads) => abortDownloads(this.#open.containerd, downloads),
  );
  readonly #desktops = new DesktopImage();
  readonly #builds: ImageBuilds;
  /** Agents and tasks that a container is being created for. */
  readonly #creating = new Set<string>();
  readonly #ended: EndedContainers;
  readonly #creation: ContainerCreation;
  #host: NerdctlHost | undefined;

  constructor(private readonly options: NerdctlDriverOptions) {
    super();
    const host = (): NerdctlHost => this.#open;
    const call: CallNerdctl = (args, callOptions) => this.#nerdctl.call(args, callOptions);
    const pull = () => options.operator.current.runtime.pull;
    this.#builds = new ImageBuilds({ host, call, images: this.#images, pull, subidUser: options.subidUser });
    const known = { containers: this.#containers, creating: this.#creating };
    this.#ended = new EndedContainers(call, host, known, options.log);
    this.#creation = new ContainerCreation({ host, call, known, ended: this.#ended, options });
  }

  override get capabilities(): DriverCapabilities {
    const { network, buildKit } = this.#open;
    return nerdctlCapabilities(network.offered, buildKit !== undefined);
  }

  async open(): Promise<void> {
    this.#host = await openNerdctlHost(this.options);
    const found = await this.#ended.list();
    for (const { agentId, id } of found) this.#containers.set(agentId, id);
    await this.#ended.forgetAllBut(found);
    // What ended the process before may have cut off the removal of one of them.
    if (found.length > 0) this.#ended.suspect();
    // Tasks do not outlive the process that started them, and Berth does not know what it did not name.
    for (const { agentId, epoch } of found) if (epoch === null) await this.stop(agentId, 0);
    await this.#host.taskDisks.releaseAll();
    await this.#host.disks.unmountAll(new Set(found.map(({ agentId }) => agentId)));
    if (this.options.kits === undefined) await removeOldKits(this.#host, found);
  }

  async prepare(source: BoxSource): Promise<void> {
    refuseSource(source, this.capabilities);
    await assertContainerdResponds(this.#open.address);
    await this.#imageOf(source);
  }

  async pinImage(reference: string, insecure: boolean, signal: AbortSignal): Promise<string> {
    await assertContainerdResponds(this.#open.address);
    return this.#images.pin(reference, this.options.operator.current.runtime.pull, insecure, signal);
  }

  async start(wanted: BoxSpec): Promise<Box> {
    const { address, disks, network, cgroups, groups } = this.#open;
    refuseUnsupported(wanted, this.capabilities);
    await assertContainerdResponds(address);
    const image = await this.#imageOf(wanted.source);
    const spec = { ...wanted, user: userOf(wanted, image, this.options.operator.current.runtime.allowRoot) };
    const { agentId, guestFolders } = spec;
    const guestUser = guestUserOf(spec.user);
    await this.stop(agentId, 0);
    const disk = await disks.mount(agentId, spec.limits.diskBytes, guestUser);
    await disks.handOver(guestFolders, guestUser);
    const { id: container, ownMounts } = await this.#creation.create(spec, image, disk);
    await this.#creation.begin(spec, image, container);
    const [pid] = await cgroups.pids(groups.nameOf(agentId, container));
    const guest = pid === undefined ? undefined : await readProcess(pid);
    if (guest === undefined)
      throw new DriverError('guest_not_started', 'The guest exited immediately after its launch.');
    await assertOwnMounts(guest.pid, ownMounts);
    const root = `/proc/${guest.pid}/root`;
    if (spec.rootFileSystem === 'writable') await assertBounded(root, disk);
    await Promise.all([
      limitInotify(guest),
      spec.network === 'public' ? network.connect(agentId, guest) : undefined,
    ]);
    const { ids, env, ...program } = await programOf(spec, image, root);
    await disks.giveVolume(agentId, ids);
    const facts = { agentId, container, guest, socket: join(guestFolders.run, 'guest.sock'), imageEnv: env };
    const joined = await groups.complete(agentId, container, spec.limits, guestUser);
    const executionGroups = groups.executionGroupsOf(container);
    return this.#keep(new ContainerBox({ ...facts, ...program, groups: joined, executionGroups }));
  }

  codeFolder(agentId: string, deploymentId: string): string {
    return join(agentFolders(this.options.dataDir, agentId).root, 'versions', deploymentId);
  }

  runTask(spec: TaskSpec, onOutput: (chunk: Buffer) => void, signal: AbortSignal): Promise<TaskEnd> {
    return this.#runTask(spec, async () => commandRole(spec.folder), onOutput, signal);
  }

  buildImage(
    spec: ImageBuildSpec,
    onOutput: (chunk: Buffer) => void,
    signal: AbortSignal,
  ): Promise<ImageBuildEnd> {
    return this.#builds.build(spec, (task, role) => this.#runTask(task, role, onOutput, signal), signal);
  }

  async removeBuiltImage(taskId: string): Promise<void> {
    await assertContainerdResponds(this.#open.address);
    await this.#builds.remove(taskId);
  }

  async #runTask(
    spec: TaskSpec,
    roleFor: (image: string) => Promise<TaskRole>,
    onOutput: (chunk: Buffer) => void,
    signal: AbortSignal,
  ): Promise<TaskEnd> {
    const { taskId, folder } = spec;
    const { image, class: runtimeClass } = this.options.operator.current.runtime;
    await this.prepare({ kind: 'build', version: 0, deploymentId: taskId, folder });
    const means: ContainerTaskMeans = {
      host: this.#open,
      image,
      runtimeClass,
      subidUser: this.options.subidUser,
      role: await roleFor(image),
      attach: (args, onChunk) => this.#nerdctl.attach(args, onChunk),
      found: (container) => this.#containers.set(taskId, container),
      stop: () => this.stop(taskId, 0),
    };
    this.#creating.add(taskId);
    try {
      return await runContainerTask(spec, means, onOutput, signal);
    } catch (error) {
      this.#ended.suspect();
      throw error;
    } finally {
      this.#creating.delete(taskId);
    }
  }

  async find(agentId: string, record: Json): Promise<Box | undefined> {
    const facts = readContainerRecord(agentId, record);
    if (facts === undefined || !(await isAlive(facts.guest))) return undefined;
    this.#containers.set(agentId, facts.container);
    return this.#keep(new ContainerBox(facts));
  }

  async freeze(agentId: string): Promise<void> {
    await this.#open.cgroups.freeze(this.#groupOf(agentId));
  }

  async thaw(agentId: string): Promise<void> {
    await this.#open.cgroups.thaw(this.#groupOf(agentId));
  }

  async isFrozen(agentId: string): Promise<boolean> {
    return this.#containers.has(agentId) && this.#open.cgroups.isFrozen(this.#groupOf(agentId));
  }

  async stop(agentId: string, graceMs: number): Promise<void> {
    const container = this.#containers.get(agentId);
    if (container !== undefined) {
      const { cgroups } = this.#open;
      const group = this.#groupOf(agentId);
      if (graceMs > 0) await letEnd(cgroups, group, Math.min(graceMs, LEFTOVER_GRACE_MS));
      await killAll(cgroups, group);
      this.#boxes.get(agentId)?.ended();
      this.#boxes.delete(agentId);
    }
    // No process has the volume open any more, and the removal takes longer.
    await this.#open.disks.unmount(agentId);
    if (container !== undefined) {
      this.#containers.delete(agentId);
      this.#ended.discard(agentId, container);
    }
    await this.#ended.discarded(agentId);
    // A start that failed before the driver knew its container has left some.
    if (container === undefined) await this.#open.groups.remove(agentId);
  }

  async remove(agentId: string): Promise<void> {
    await this.stop(agentId, 0);
    await this.#open.disks.remove(agentId);
  }

  canStart(withinMs: number): Promise<boolean> {
    return containerdResponds(this.#open.address, withinMs);
  }

  hasDesktops(): Promise<boolean> {
    return this.#desktops.isHere(this.#open.containerd);
  }

  async list(): Promise<readonly ListedBox[]> {
    return (await this.#ended.list()).map(({ agentId, epoch }) => ({ agentId, epoch }));
  }

  async stats(agentId: string): Promise<BoxStats | null> {
    const container = this.#containers.get(agentId);
    const { cgroups, groups } = this.#open;
    if (container === undefined) return null;
    return cgroups.stats(groups.nameOf(agentId, container), groups.limitedOf(agentId, container));
  }

  volumeBytes(agentId: string): Promise<number | null> {
    return this.#open.disks.storedBytes(agentId);
  }

  override promisedDisk(): Promise<PromisedDisk> {
    return this.#open.disks.promised();
  }

  async writtenBytes(agentId: string): Promise<number | null> {
    if (!this.#containers.has(agentId)) return null;
    return writtenBytes(await this.#open.cgroups.pids(this.#groupOf(agentId)));
  }

  override keepUp(signal: AbortSignal): Promise<void> {
    return this.#ended.keepUp(signal, (both) => this.#open.network.keepUp(both));
  }

  async close(): Promise<void> {
    for (const box of this.#boxes.values()) box.forget();
    if (this.#host !== undefined) await this.#ended.close();
    await this.#host?.close(this.#containers.size > 0);
  }

  #imageOf(source: BoxSource): Promise<ObtainedImage> {
    return imageOfSource(source, this.#images, this.options.operator.current);
  }

  #keep(box: ContainerBox): ContainerBox {
    this.#boxes.get(box.agentId)?.forget();
    this.#boxes.set(box.agentId, box);
    return box;
  }

  /** The control group of the agent's container, for `BoxCgroups`. */
  #groupOf(agentId: string): string {
    const container = this.#containers.get(agentId);
    if (container === undefined) throw new DriverError('box_absent', 'The agent has no processes here.');
    return this.#open.groups.nameOf(agentId, container);
  }

  get #nerdctl(): NerdctlProgram {
    return new NerdctlProgram(this.#open);
  }

  get #open(): NerdctlHost {
    if (this.#host === undefined) throw new Error('The driver is not open.');
    return this.#host;
  }
}

import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json } from '@berth/kernel';
import { guestEnv, GUEST_NODE_OPTIONS } from '@berth/guest-protocol';
import type { Logger } from '@berth/telemetry';
import { becomesTrue } from '../../poll.js';
import type { BoxSource, BoxSpec } from '../box-spec.js';
import { openHierarchies } from '../cgroup/cgroup-hierarchies.js';
import { Driver, type Box, type BoxStats, type DriverCapabilities, type ListedBox } from '../driver.js';
import { ownGroupMemory, type HostMemory } from '../host-memory.js';
import { DriverError } from '../driver-error.js';
import type { ImageBuildEnd, TaskEnd, TaskSpec } from '../task-spec.js';
import { refuseSource, refuseUnsupported } from '../requirements.plan.js';
import { AgentUsers } from './agent-users.js';
import { assertDesktopSoftware, codeOf, missingDesktopSoftware } from './box-source.js';
import { CgroupProcessGroup } from './cgroup-process-group.js';
import { launchGuest, toolExists } from './launch-guest.js';
import { launchScript } from './launch-script.js';
import { MarkerProcessGroup } from './marker-process-group.js';
import { ProcessBox, readBoxRecord } from './process-box.js';
import type { ProcessGroup } from './process-group.js';
import { isAlive, readStartVariable, signal, writtenBytes } from '../process-table.js';
import { runProcessTask } from './process-task.js';
import { UidAllocation } from './uid-allocation.js';
import { WorkspaceMounts } from './workspace-mounts.js';

export interface ProcessDriverOptions {
  readonly dataDir: string;
  /** The guest's main file. */
  readonly guestMain: string;
  /** First user id for agents; undefined picks an unused range. */
  readonly uidBase: number | undefined;
  /** Folder of volumes on a host that runs as root without namespaces; undefined: below /var/lib/berth. */
  readonly outsideDir: string | undefined;
  /** The host's features that the driver may use; tests disable some. */
  readonly features?: {
    readonly cgroups?: 'v2' | 'v1' | 'none';
    readonly views?: boolean;
    readonly users?: boolean;
  };
  readonly log: Logger;
}

/** Extra memory for the guest, which runs in the agent's box and counts against its limit. */
const GUEST_MEMORY_BYTES = 128 * 1024 * 1024;
const NO_CONTAINERS =
  'Dockerfiles are only built where agents run in containers, which is not so on this host. Add a berth.json.';
const JOINED_WITHIN_MS = 1_000;
/** Delay between TERM and KILL for processes that outlive the agent's program. */
const LEFTOVER_GRACE_MS = 1_000;
/** Set for the guest only, so that a later host process can read the epoch that the box was started for. */
const EPOCH_VARIABLE = 'BERTH_BOX_EPOCH';

interface HostFeatures {
  readonly processGroup: ProcessGroup;
  readonly users: AgentUsers | null;
  readonly workspaceMounts: WorkspaceMounts;
  readonly noNewPrivileges: boolean;
  readonly capabilities: DriverCapabilities;
}

/**
 * Runs agents as child processes of the host. As root, each agent gets its own user, cgroup and mounts where the host
 * supports them; without root, none of these.
 */
export class ProcessDriver extends Driver {
  override readonly name = 'process';
  readonly #boxes = new Map<string, ProcessBox>();
  #instance = '';
  #features: HostFeatures | undefined;

  constructor(private readonly options: ProcessDriverOptions) {
    super();
  }

  get capabilities(): DriverCapabilities {
    return this.#open.capabilities;
  }

  async open(): Promise<void> {
    const { dataDir, uidBase, outsideDir, features = {}, log } = this.options;
    this.#instance = createHash('sha256')
      .update(await realpath(dataDir))
      .digest('hex')
      .slice(0, 12);
    const asRoot = process.getuid?.() === 0 && (features.users ?? true);
    const uids = asRoot
      ? await UidAllocation.open(join(dataDir, 'uids.json'), this.#instance, uidBase)
      : null;
    const workspaceMounts = await WorkspaceMounts.open({
      dataDir,
      guestMain: this.options.guestMain,
      asRoot,
      useViews: features.views ?? true,
      outside: outsideDir ?? join('/var/lib/berth', this.#instance),
    });
    const cgroups = features.cgroups ?? 'v2';
    const hierarchies = cgroups === 'none' ? [] : await openHierarchies(`berth-${this.#instance}`, cgroups);
    const traces = {
      markPrefix: this.#instance,
      uidOf: (agentId: string) => uids?.find(agentId),
      agentOf: (uid: number) => uids?.agentOf(uid),
    };
    const processGroup =
      hierarchies.length > 0 ? new CgroupProcessGroup(hierarchies) : new MarkerProcessGroup(traces);
    const limiting = hierarchies.flatMap(({ controllers }) => controllers);
    const capabilities: DriverCapabilities = {
      isolation: asRoot ? 'users' : 'none',
      sources: ['template', 'build', 'desktop'],
      limits: [
        ...(limiting.includes('memory') ? (['memoryBytes'] as const) : []),
        ...(limiting.includes('pids') ? (['processes'] as const) : []),
      ],
      users: ['unprivileged'],
      tasks: true,
      refusesDockerfiles: NO_CONTAINERS,
      network: 'host',
      runtimeClasses: [],
    };
    const noNewPrivileges = await toolExists('setpriv');
    const users = uids === null ? null : new AgentUsers(uids, !workspaceMounts.coversSharedFolders);
    this.#features = { processGroup, users, workspaceMounts, noNewPrivileges, capabilities };
    log.warn(
      { isolation: capabilities.isolation, limits: capabilities.limits },
      'Agents run as plain processes of this host. Do not run code of untrusted users.',
    );
  }

  /** Nothing to fetch: templates and builds are folders of the host, and desktops its programs. */
  async prepare(source: BoxSource): Promise<void> {
    refuseSource(source, this.capabilities);
    if (source.kind === 'desktop') assertDesktopSoftware();
  }

  async hasDesktops(): Promise<boolean> {
    return missingDesktopSoftware().length === 0;
  }

  async start(spec: BoxSpec): Promise<Box> {
    const { processGroup, users, workspaceMounts, noNewPrivileges, capabilities } = this.#open;
    const { agentId, limits, guestFolders } = spec;
    refuseUnsupported(spec, capabilities);
    await this.stop(agentId, 0);
    const user = await users?.of(agentId);
    const executionGroups = processGroup.executionGroups(agentId);
    const runAs = user === undefined ? null : { ...user, ...(executionGroups && { executionGroups }) };
    const code = codeOf(spec.source);
    const { inside, view, node } = await workspaceMounts.prepare(agentId, code, runAs, limits.memoryBytes);
    const groups = await processGroup.create(agentId, {
      memoryBytes: limits.memoryBytes + GUEST_MEMORY_BYTES,
      processes: limits.processes,
    });
    const command = [node, ...GUEST_NODE_OPTIONS, this.options.guestMain];
    const socket = join(guestFolders.run, 'guest.sock');
    const { identity, gone } = await launchGuest({
      script: launchScript({ groups, view, noNewPrivileges, command }),
      log: join(guestFolders.logs, 'guest.log'),
      env: {
        ...spec.env,
        PATH: inside.path,
        [guestEnv.socket]: socket,
        [guestEnv.logs]: guestFolders.logs,
        [guestEnv.journal]: guestFolders.journal,
        [guestEnv.mark]: `${this.#instance}/${agentId}`,
        [EPOCH_VARIABLE]: String(spec.epoch),
      },
    });
    // From here on, stopping the agent finds the process in its group.
    const settled = async (): Promise<boolean> =>
      (await processGroup.pids(agentId)).includes(identity.pid) || !(await isAlive(identity));
    await becomesTrue(settled, JOINED_WITHIN_MS);
    const facts = { agentId, socket, inside, command: spec.command, runAs, guest: identity };
    const box = new ProcessBox(facts, gone);
    this.#boxes.set(agentId, box);
    return box;
  }

  codeFolder(agentId: string, deploymentId: string): string {
    return this.#open.workspaceMounts.codeFolder(agentId, deploymentId);
  }

  async runTask(spec: TaskSpec, onOutput: (chunk: Buffer) => void, signal: AbortSignal): Promise<TaskEnd> {
    const { users, ...means } = this.#open;
    const runAs = (await users?.of(spec.taskId)) ?? null;
    const task = { ...means, runAs, markPrefix: this.#instance };
    const end = await runProcessTask(spec, task, onOutput, signal);
    // Kept after a failure: processes of the task may still run as this user.
    await users?.release(spec.taskId);
    return end;
  }

  async buildImage(): Promise<ImageBuildEnd> {
    throw new DriverError('spec_unsupported', NO_CONTAINERS);
  }

  async removeBuiltImage(): Promise<void> {
    // It builds none.
  }

  async find(agentId: string, record: Json): Promise<Box | undefined> {
    const stored = readBoxRecord(agentId, record);
    if (stored === undefined || !(await isAlive(stored.guest))) return undefined;
    const box = ProcessBox.adopt(stored);
    this.#boxes.set(agentId, box);
    return box;
  }

  freeze(agentId: string): Promise<void> {
    return this.#open.processGroup.freeze(agentId);
  }

  thaw(agentId: string): Promise<void> {
    return this.#open.processGroup.thaw(agentId);
  }

  isFrozen(agentId: string): Promise<boolean> {
    return this.#open.processGroup.isFrozen(agentId);
  }

  async stop(agentId: string, graceMs: number): Promise<void> {
    const { processGroup } = this.#open;
    const guest = this.#boxes.get(agentId)?.guest.pid;
    if (graceMs > 0) {
      const others = async (): Promise<readonly number[]> =>
        (await processGroup.pids(agentId)).filter((pid) => pid !== guest);
      for (const pid of await others()) signal(pid, 'SIGTERM');
      await becomesTrue(async () => (await others()).length === 0, Math.min(graceMs, LEFTOVER_GRACE_MS));
    }
    await processGroup.kill(agentId);
    this.#boxes.get(agentId)?.forget();
    this.#boxes.delete(agentId);
  }

  async remove(agentId: string): Promise<void> {
    await this.stop(agentId, 0);
    await this.#open.workspaceMounts.remove(agentId);
    await this.#open.users?.release(agentId);
  }

  async list(): Promise<readonly ListedBox[]> {
    const { processGroup } = this.#open;
    const agentIds = await processGroup.list();
    return Promise.all(
      agentIds.map(async (agentId) => ({ agentId, epoch: await epochOf(await processGroup.pids(agentId)) })),
    );
  }

  stats(agentId: string): Promise<BoxStats | null> {
    return this.#open.processGroup.stats(agentId);
  }

  volumeBytes(agentId: string): Promise<number | null> {
    return this.#open.workspaceMounts.volumeBytes(agentId);
  }

  async writtenBytes(agentId: string): Promise<number | null> {
    return writtenBytes(await this.#open.processGroup.pids(agentId));
  }

  override fileCount(agentId: string): Promise<number> {
    return this.#open.workspaceMounts.fileCount(agentId);
  }

  /** Without groups of their own, agents share the memory of this process's group. */
  override memoryMb(): HostMemory {
    return this.#open.capabilities.limits.includes('memoryBytes') ? super.memoryMb() : ownGroupMemory();
  }

  canStart(): Promise<boolean> {
    return Promise.resolve(true);
  }

  pinImage(): Promise<never> {
    return Promise.reject(new DriverError('spec_unsupported', 'The process driver runs no images.'));
  }

  async close(): Promise<void> {
    for (const box of this.#boxes.values()) box.forget();
    await this.#features?.processGroup.close();
  }

  get #open(): HostFeatures {
    if (this.#features === undefined) throw new Error('The driver is not open.');
    return this.#features;
  }
}

/** The epoch in the environment of the guest, which is one of these processes; null if it is gone. */
const epochOf = async (pids: readonly number[]): Promise<number | null> => {
  for (const pid of pids) {
    const epoch = Number(await readStartVariable(pid, EPOCH_VARIABLE));
    if (Number.isSafeInteger(epoch)) return epoch;
  }
  return null;
};

import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { freemem } from 'node:os';
import { join } from 'node:path';
import type { Json } from '@berth/kernel';
import { guestEnv } from '@berth/guest-protocol';
import type { Logger } from '@berth/telemetry';
import { agentFolders } from '../../agent/agent-folders.js';
import { becomesTrue } from '../../poll.js';
import type { Box, BoxRequest, Driver, RunAs } from '../driver.js';
import { CgroupProcessGroup } from './cgroup-process-group.js';
import { openHierarchies } from './cgroup-hierarchies.js';
import type { ProcessGroup } from './process-group.js';
import { launchGuest, toolExists } from './launch-guest.js';
import { launchScript } from './launch-script.js';
import { WorkspaceMounts } from './workspace-mounts.js';
import { ProcessBox, readBoxRecord } from './process-box.js';
import { isAlive, signal } from './process-table.js';
import { MarkerProcessGroup } from './marker-process-group.js';
import { UidAllocation } from './uid-allocation.js';

export interface ProcessDriverOptions {
  readonly dataDir: string;
  /** The guest's main file. */
  readonly guestMain: string;
  /** First user id for agents; undefined picks an unused range. */
  readonly uidBase: number | undefined;
  /** Folder of volumes on a host that runs as root without namespaces; undefined: below /var/lib/berth. */
  readonly outsideDir: string | undefined;
  /** The host's means that the driver may use; tests disable some. */
  readonly means?: {
    readonly cgroups?: 'v2' | 'v1' | 'none';
    readonly views?: boolean;
    readonly users?: boolean;
  };
  readonly log: Logger;
}

/** Extra memory for the guest, which runs in the agent's box and counts against its limit. */
const GUEST_MEMORY_MB = 128;
const MOST_PROCESSES = 1024;
const JOINED_WITHIN_MS = 1_000;
/** Delay between TERM and KILL for processes that outlive the agent's program. */
const LEFTOVER_GRACE_MS = 1_000;

interface Means {
  readonly processGroup: ProcessGroup;
  readonly uids: UidAllocation | null;
  readonly workspaceMounts: WorkspaceMounts;
  readonly noNewPrivileges: boolean;
}

/**
 * Runs agents as child processes of the host. As root, each agent gets its own user, cgroup and mounts where the host
 * supports them; without root, none of these.
 */
export class ProcessDriver implements Driver {
  readonly name = 'process';
  readonly #boxes = new Map<string, ProcessBox>();
  #instance = '';
  #means: Means | undefined;

  constructor(private readonly options: ProcessDriverOptions) {}

  async open(): Promise<void> {
    const { dataDir, uidBase, outsideDir, means = {}, log } = this.options;
    if (process.platform !== 'linux') throw new Error('The process driver needs Linux.');
    this.#instance = createHash('sha256')
      .update(await realpath(dataDir))
      .digest('hex')
      .slice(0, 12);
    const asRoot = process.getuid?.() === 0 && (means.users ?? true);
    const uids = asRoot
      ? await UidAllocation.open(join(dataDir, 'uids.json'), this.#instance, uidBase)
      : null;
    const workspaceMounts = await WorkspaceMounts.open({
      dataDir,
      asRoot,
      useViews: means.views ?? true,
      outside: outsideDir ?? join('/var/lib/berth', this.#instance),
    });
    const cgroups = means.cgroups ?? 'v2';
    const hierarchies = cgroups === 'none' ? [] : await openHierarchies(`berth-${this.#instance}`, cgroups);
    const traces = { markPrefix: this.#instance, uidOf: (agentId: string) => uids?.find(agentId) };
    const processGroup =
      hierarchies.length > 0 ? new CgroupProcessGroup(hierarchies) : new MarkerProcessGroup(traces);
    this.#means = { processGroup, uids, workspaceMounts, noNewPrivileges: await toolExists('setpriv') };
    const has = { ownUsers: asRoot, controlGroups: hierarchies.length > 0 };
    log.warn(has, 'Agents run as plain processes of this host. Do not run code of untrusted users.');
  }

  async start({ agentId, template, memMb }: BoxRequest): Promise<Box> {
    const { processGroup, uids, workspaceMounts, noNewPrivileges } = this.#open;
    await this.end(agentId, 0);
    const uid = await uids?.allocate(agentId);
    const runAs: RunAs | null = uid === undefined ? null : { uid, gid: uid };
    const { inside, view } = await workspaceMounts.prepare(agentId, template, runAs);
    const groups = await processGroup.create(agentId, {
      memoryBytes: (memMb + GUEST_MEMORY_MB) * 1024 * 1024,
      processes: MOST_PROCESSES,
    });
    const command = [process.execPath, this.options.guestMain];
    const { logs, journal, run } = agentFolders(this.options.dataDir, agentId);
    const socket = join(run, 'guest.sock');
    const { identity, gone } = await launchGuest({
      script: launchScript({ groups, view, noNewPrivileges, command }),
      log: join(logs, 'guest.log'),
      env: {
        PATH: inside.path,
        [guestEnv.socket]: socket,
        [guestEnv.logs]: logs,
        [guestEnv.journal]: journal,
        [guestEnv.generation]: template.generation,
        [guestEnv.mark]: `${this.#instance}/${agentId}`,
      },
    });
    // From here on, ending the agent finds the process in its processGroup.
    const settled = async (): Promise<boolean> =>
      (await processGroup.pids(agentId)).includes(identity.pid) || !(await isAlive(identity));
    await becomesTrue(settled, JOINED_WITHIN_MS);
    const box = new ProcessBox({ agentId, socket, inside, runAs, guest: identity }, gone);
    this.#boxes.set(agentId, box);
    return box;
  }

  async find(agentId: string, record: Json): Promise<Box | undefined> {
    const known = readBoxRecord(agentId, record);
    if (known === undefined || !(await isAlive(known.guest))) return undefined;
    const box = ProcessBox.adopt(known);
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

  async end(agentId: string, graceMs: number): Promise<void> {
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
    await this.end(agentId, 0);
    await this.#open.workspaceMounts.remove(agentId);
    await this.#open.uids?.release(agentId);
  }

  list(): Promise<readonly string[]> {
    return this.#open.processGroup.list();
  }

  freeMemMb(): number {
    return Math.floor(freemem() / 1024 / 1024);
  }

  async close(): Promise<void> {
    for (const box of this.#boxes.values()) box.forget();
    await this.#means?.processGroup.close();
  }

  get #open(): Means {
    if (this.#means === undefined) throw new Error('The driver is not open.');
    return this.#means;
  }
}

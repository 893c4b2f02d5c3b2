import { guestEnv } from '@berth/guest-protocol';
import { becomesTrue } from '../../poll.js';
import { COMPLETE_WITHIN_MS } from '../cgroup/box-cgroups.js';
import { DriverError } from '../driver-error.js';
import type { BoxStats } from '../driver.js';
import type { ProcessGroup } from './process-group.js';
import {
  listPids,
  readProcess,
  isAlive,
  readStartVariable,
  readUsage,
  readUid,
  signal,
  type ProcessEntry,
  type ProcessIdentity,
  type ProcessUsage,
} from '../process-table.js';

/** How to identify an agent's processes. */
export interface Traces {
  /** Prefix of the mark that every process of this host's agents inherits: `<prefix>/<agentId>`. */
  readonly markPrefix: string;
  /** The agent's own user id; undefined if agents have none. */
  readonly uidOf: (agentId: string) => number | undefined;
  /** The agent with that user id; undefined if it is not one of ours. */
  readonly agentOf: (uid: number) => string | undefined;
}

/**
 * For hosts without cgroups: finds an agent's processes by their inherited mark or their user. A process that has
 * cleared its environment escapes if the agent has no user of its own, so this is not isolation.
 */
export class MarkerProcessGroup implements ProcessGroup {
  constructor(private readonly traces: Traces) {}

  async create(): Promise<readonly string[]> {
    return [];
  }

  executionGroups(): undefined {
    return undefined;
  }

  async pids(agentId: string): Promise<readonly number[]> {
    const uid = this.traces.uidOf(agentId);
    const mark = this.mark(agentId);
    const found = await Promise.all(
      (await listPids()).map(async (pid) => {
        if (pid === process.pid) return [];
        const its =
          (uid !== undefined && (await readUid(pid)) === uid) ||
          (await readStartVariable(pid, guestEnv.mark)) === mark;
        return its && (await readProcess(pid)) !== undefined ? [pid] : [];
      }),
    );
    return found.flat();
  }

  mark(agentId: string): string {
    return `${this.traces.markPrefix}/${agentId}`;
  }

  async freeze(agentId: string): Promise<void> {
    let absent = false;
    const allStopped = async (): Promise<boolean> => {
      const entries = await this.#entries(agentId);
      absent = entries.length === 0;
      for (const { pid, state } of entries) if (state !== 'T') signal(pid, 'SIGSTOP');
      return entries.every(isStopped);
    };
    const stopped = await becomesTrue(allStopped, COMPLETE_WITHIN_MS);
    if (absent) throw boxAbsent();
    if (stopped) return;
    await this.thaw(agentId);
    throw new DriverError('box_stuck', 'The processes of the agent could not be frozen.');
  }

  async thaw(agentId: string): Promise<void> {
    const pids = await this.pids(agentId);
    if (pids.length === 0) throw boxAbsent();
    for (const pid of pids) signal(pid, 'SIGCONT');
  }

  async isFrozen(agentId: string): Promise<boolean> {
    const entries = await this.#entries(agentId);
    return entries.length > 0 && entries.every(isStopped);
  }

  /** Counts only what the living processes and their ended children have used. */
  async stats(agentId: string): Promise<BoxStats | null> {
    const found = await Promise.all((await this.pids(agentId)).map(readUsage));
    const usages = found.flatMap((usage) => usage ?? []);
    if (usages.length === 0) return null;
    const sum = (count: (usage: ProcessUsage) => number): number =>
      usages.reduce((total, usage) => total + count(usage), 0);
    return {
      memoryBytes: sum(({ memoryBytes }) => memoryBytes),
      cpuSeconds: sum(({ cpuSeconds }) => cpuSeconds),
      processes: sum(({ threads }) => threads),
      oomKills: null,
    };
  }

  async kill(agentId: string): Promise<void> {
    // A process that ends loses its mark before it is gone.
    const ending = new Map<number, ProcessIdentity>();
    const noneLeft = async (): Promise<boolean> => {
      const marked = await this.#entries(agentId);
      for (const entry of marked) {
        ending.set(entry.pid, entry);
        signal(entry.pid, 'SIGKILL');
      }
      if (marked.length > 0) return false;
      return !(await Promise.all([...ending.values()].map(isAlive))).includes(true);
    };
    if (!(await becomesTrue(noneLeft, COMPLETE_WITHIN_MS)))
      throw new DriverError('box_stuck', 'The processes of the agent could not be ended.');
  }

  /** By mark or by user, so that a process that has cleared its environment is found too if its agent has a user. */
  async list(): Promise<readonly string[]> {
    const found = await Promise.all((await listPids()).map((pid) => this.#agentOf(pid)));
    return [...new Set(found.flatMap((agentId) => agentId ?? []))];
  }

  async close(): Promise<void> {}

  async #agentOf(pid: number): Promise<string | undefined> {
    if (pid === process.pid || (await readProcess(pid)) === undefined) return undefined;
    const prefix = `${this.traces.markPrefix}/`;
    const mark = await readStartVariable(pid, guestEnv.mark);
    if (mark?.startsWith(prefix) === true) return mark.slice(prefix.length);
    const uid = await readUid(pid);
    return uid === undefined ? undefined : this.traces.agentOf(uid);
  }

  async #entries(agentId: string): Promise<readonly ProcessEntry[]> {
    const entries = await Promise.all((await this.pids(agentId)).map(readProcess));
    return entries.flatMap((entry) => entry ?? []);
  }
}

const boxAbsent = (): DriverError =>
  new DriverError('box_absent', 'The agent has no processes on this host.');

/**
 * A process in an uninterruptible wait (D), for example for a child that was stopped on its way to exec, stops before
 * it continues.
 */
const isStopped = ({ state }: ProcessEntry): boolean => state === 'T' || state === 'D';

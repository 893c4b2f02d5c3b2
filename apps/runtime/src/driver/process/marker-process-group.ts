import { guestEnv } from '@berth/guest-protocol';
import { becomesTrue } from '../../poll.js';
import { OBEYED_WITHIN_MS, type ProcessGroup } from './process-group.js';
import {
  listPids,
  readProcess,
  readStartVariable,
  readUid,
  signal,
  type ProcessEntry,
} from './process-table.js';

/** How to identify an agent's processes. */
export interface Traces {
  /** Prefix of the mark that every process of this host's agents inherits: `<prefix>/<agentId>`. */
  readonly markPrefix: string;
  /** The agent's own user id; undefined if agents have none. */
  readonly uidOf: (agentId: string) => number | undefined;
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
    const allStopped = async (): Promise<boolean> => {
      const entries = await this.#entries(agentId);
      for (const { pid, state } of entries) if (state !== 'T') signal(pid, 'SIGSTOP');
      return entries.every(standsStill);
    };
    if (await becomesTrue(allStopped, OBEYED_WITHIN_MS)) return;
    await this.thaw(agentId);
    throw new Error('The processes of the agent could not be frozen.');
  }

  async thaw(agentId: string): Promise<void> {
    for (const pid of await this.pids(agentId)) signal(pid, 'SIGCONT');
  }

  async isFrozen(agentId: string): Promise<boolean> {
    const entries = await this.#entries(agentId);
    return entries.length > 0 && entries.every(standsStill);
  }

  async kill(agentId: string): Promise<void> {
    const nobodyLeft = async (): Promise<boolean> => {
      const pids = await this.pids(agentId);
      for (const pid of pids) signal(pid, 'SIGKILL');
      return pids.length === 0;
    };
    if (!(await becomesTrue(nobodyLeft, OBEYED_WITHIN_MS))) {
      throw new Error('The processes of the agent could not be ended.');
    }
  }

  async list(): Promise<readonly string[]> {
    const prefix = `${this.traces.markPrefix}/`;
    const marks = await Promise.all((await listPids()).map((pid) => readStartVariable(pid, guestEnv.mark)));
    const ids = marks.flatMap((mark) =>
      mark?.startsWith(prefix) === true ? [mark.slice(prefix.length)] : [],
    );
    return [...new Set(ids)];
  }

  async close(): Promise<void> {}

  async #entries(agentId: string): Promise<readonly ProcessEntry[]> {
    const entries = await Promise.all((await this.pids(agentId)).map(readProcess));
    return entries.flatMap((entry) => entry ?? []);
  }
}

/**
 * A process in an uninterruptible wait (D), for example for a child that was stopped on its way to exec, stops before
 * it continues.
 */
const standsStill = ({ state }: ProcessEntry): boolean => state === 'T' || state === 'D';

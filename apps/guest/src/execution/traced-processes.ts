import type { EndableProcesses } from './end-processes.js';
import { hasSetting, readProcess, readProcesses, signalProcess, type ProcessEntry } from './process-table.js';

/**
 * Variable in the environment of every process of an execution. It identifies processes that left their group and
 * parents.
 */
const MARK = 'BERTH_EXECUTION_ID';

export const executionMark = (executionId: string): Readonly<Record<string, string>> => ({
  [MARK]: executionId,
});

/**
 * The processes of an execution without a control group, found by what they inherit: their parent, group, session, and mark.
 * Misses a process that has lost all four. Valid until its shell is reaped.
 */
export class TracedProcesses implements EndableProcesses {
  readonly #mark: string;
  readonly #members = new Map<number, number>();
  readonly #terminated = new Set<number>();

  constructor(
    private readonly shell: ProcessEntry,
    executionId: string,
  ) {
    this.#mark = `${MARK}=${executionId}`;
  }

  static of(pid: number, executionId: string): TracedProcesses | undefined {
    const shell = readProcess(pid);
    return shell && new TracedProcesses(shell, executionId);
  }

  terminate(): number {
    const found = this.#find();
    for (const process of found.filter(({ pid }) => !this.#terminated.has(pid))) {
      this.#terminated.add(process.pid);
      signalProcess(process, 'SIGTERM');
    }
    return found.length;
  }

  kill(): number {
    const found = this.#find();
    if (found.some(({ group }) => group === this.shell.pid)) killGroup(this.shell.pid);
    for (const process of found) signalProcess(process, 'SIGKILL');
    return found.length;
  }

  #find(): ProcessEntry[] {
    // No process of the execution is older than the shell.
    const candidates = readProcesses().filter(({ started }) => started >= this.shell.started);
    const members = candidates.filter((entry) => this.#isMember(entry, candidates));
    const pids = new Set(members.map(({ pid }) => pid));
    for (let before = -1; before < pids.size;) {
      before = pids.size;
      for (const { pid, parent } of candidates) if (pids.has(parent)) pids.add(pid);
    }
    const found = candidates.filter(({ pid }) => pids.has(pid) && pid !== process.pid);
    for (const { pid, started } of found) this.#members.set(pid, started);
    return found;
  }

  #isMember({ pid, group, session, started }: ProcessEntry, candidates: readonly ProcessEntry[]): boolean {
    const { shell } = this;
    if (this.#members.get(pid) === started) return true;
    // Once all members of a group have exited, its number may be reused.
    const isOurs = !candidates.some((entry) => entry.pid === shell.pid && entry.started !== shell.started);
    if (isOurs && (group === shell.pid || session === shell.pid)) return true;
    return hasSetting(pid, [this.#mark]);
  }
}

/** Kills the whole group at once, so that no member can start another process in the meantime. */
const killGroup = (group: number): void => {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // The last member has just exited.
  }
};

/** Kills the processes of executions that no guest watches any more. */
export const killLeftovers = (executionIds: readonly string[]): void => {
  if (executionIds.length === 0) return;
  const marks = executionIds.map((id) => `${MARK}=${id}`);
  for (const entry of readProcesses()) if (hasSetting(entry.pid, marks)) signalProcess(entry, 'SIGKILL');
};

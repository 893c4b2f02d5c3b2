import { setTimeout as delay } from 'node:timers/promises';
import { hasSetting, readProcess, readProcesses, signalProcess, type ProcessEntry } from './process-table.js';

/**
 * Variable in the environment of every process of an execution. It identifies processes that left their group and
 * parents.
 */
const MARK = 'BERTH_EXECUTION_ID';
const FIRST_PAUSE_MS = 5;
const MAX_PAUSE_MS = 100;
const KILL_EVERY_MS = 10;
/** How long to repeat KILL; a process that survives it hangs in the kernel and is not waited for. */
const KILL_FOR_MS = 400;

export const executionMark = (executionId: string): Readonly<Record<string, string>> => ({
  [MARK]: executionId,
});

/** All processes of one execution. Valid until its shell is reaped. */
export class ExecutionProcesses {
  readonly #mark: string;
  readonly #members = new Map<number, number>();
  readonly #terminated = new Set<number>();

  constructor(
    private readonly shell: ProcessEntry,
    executionId: string,
  ) {
    this.#mark = `${MARK}=${executionId}`;
  }

  static of(pid: number, executionId: string): ExecutionProcesses | undefined {
    const shell = readProcess(pid);
    return shell && new ExecutionProcesses(shell, executionId);
  }

  /** Sends TERM, then KILL after `graceMs`. Resolves when no process is left that can be ended. */
  async end(graceMs: number): Promise<void> {
    const killAt = performance.now() + graceMs;
    for (let pauseMs = FIRST_PAUSE_MS; performance.now() < killAt; pauseMs *= 1.5) {
      if (this.#terminate() === 0) return;
      await delay(Math.min(pauseMs, MAX_PAUSE_MS, Math.max(0, killAt - performance.now())));
    }
    const giveUpAt = performance.now() + KILL_FOR_MS;
    while (this.#kill() > 0 && performance.now() < giveUpAt) await delay(KILL_EVERY_MS);
  }

  /** Sends TERM to each process once, including those started since the last call. */
  #terminate(): number {
    const found = this.#find();
    for (const process of found.filter(({ pid }) => !this.#terminated.has(pid))) {
      this.#terminated.add(process.pid);
      signalProcess(process, 'SIGTERM');
    }
    return found.length;
  }

  #kill(): number {
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

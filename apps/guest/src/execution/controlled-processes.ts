import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecutionGroupsParent } from '@berth/guest-protocol';
import type { EndableProcesses } from './end-processes.js';

/** The processes in the control group of an execution. */
export class ControlledProcesses implements EndableProcesses {
  readonly #terminated = new Set<number>();

  constructor(
    private readonly parent: ExecutionGroupsParent,
    private readonly folder: string,
    private readonly isThreaded: boolean,
  ) {}

  terminate(): number {
    const found = this.#processes();
    for (const pid of found.filter((one) => !this.#terminated.has(one))) {
      this.#terminated.add(pid);
      signal(pid, 'SIGTERM');
    }
    return found.length;
  }

  /** Stops the group from growing first: otherwise processes that fork without a pause outrun the signals. */
  kill(): number {
    this.#stopGrowth();
    const found = this.#members();
    for (const id of found) signal(id, 'SIGKILL');
    return found.length;
  }

  #stopGrowth(): void {
    if (this.parent.version === 1) this.#write('pids.max', '0');
    else if (this.isThreaded) this.#freezeWithoutGuest();
    // Linux before 5.14 cannot kill a group as a whole, but what is frozen.
    else if (!this.#write('cgroup.kill', '1')) this.#write('cgroup.freeze', '1');
  }

  #freezeWithoutGuest(): void {
    if (!idsIn(this.#list).includes(process.pid)) this.#write('cgroup.freeze', '1');
  }

  /** In a threaded group the kernel lists threads, and the processes of all such groups in their parent. */
  #processes(): readonly number[] {
    const found = this.#members();
    if (!this.isThreaded) return found;
    const processes = new Set(idsIn(join(this.parent.folder, 'cgroup.procs')));
    return found.filter((id) => processes.has(id));
  }

  #members(): readonly number[] {
    return idsIn(this.#list).filter((id) => id !== process.pid);
  }

  get #list(): string {
    return join(this.folder, this.isThreaded ? 'cgroup.threads' : 'cgroup.procs');
  }

  #write(file: string, value: string): boolean {
    try {
      writeFileSync(join(this.folder, file), value, { flag: 'r+' });
      return true;
    } catch {
      return false;
    }
  }
}

/** Ids of a list of the kernel; `[]` if its group is gone. */
const idsIn = (file: string): readonly number[] => {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .map(Number)
      .filter((id) => id > 0);
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENODEV'))
      return [];
    throw error;
  }
};

/** The kernel has listed it just now: its number cannot have another process yet. */
const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name);
  } catch {
    // It has just exited.
  }
};

import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecutionGroupsParent, RunAsUser } from '@berth/guest-protocol';
import { ControlledProcesses } from './controlled-processes.js';

/** How often to look whether background processes of executions that are over have ended. */
const REMOVE_EVERY_MS = 5_000;

/** The control groups of executions, one each: no process can leave its group, whatever it hides. */
export class ExecutionGroups {
  /** Groups of executions that are over, with background processes. */
  readonly #left = new Set<string>();
  #removing: NodeJS.Timeout | undefined;

  /** A group for processes of that user; undefined where there are none. */
  create(runAs: RunAsUser | null, executionId: string): ExecutionGroup | undefined {
    const parent = runAs?.executionGroups;
    if (runAs === null || parent === undefined) return undefined;
    const folder = join(parent.folder, executionId);
    try {
      mkdirSync(folder);
      if (isThreaded(runAs)) writeFileSync(join(folder, 'cgroup.type'), 'threaded');
      return new ExecutionGroup(parent, folder, runAs);
    } catch {
      // The host limits the number of groups, for example. Its processes are looked for by their traces then.
      this.#remove(folder);
      return undefined;
    }
  }

  /** Removes the group as soon as it has no process. */
  discard({ folder }: ExecutionGroup): void {
    if (!this.#remove(folder)) this.#left.add(folder);
    this.#removeLater();
  }

  #removeLater(): void {
    if (this.#left.size === 0 || this.#removing !== undefined) return;
    this.#removing = setTimeout(() => {
      this.#removing = undefined;
      for (const folder of this.#left) if (this.#remove(folder)) this.#left.delete(folder);
      this.#removeLater();
    }, REMOVE_EVERY_MS).unref();
  }

  #remove(folder: string): boolean {
    try {
      rmdirSync(folder);
      return true;
    } catch (error) {
      return !(error instanceof Error && 'code' in error && error.code === 'EBUSY');
    }
  }
}

/** The control group of one execution. */
export class ExecutionGroup {
  readonly processes: ControlledProcesses;

  constructor(
    private readonly parent: ExecutionGroupsParent,
    readonly folder: string,
    private readonly runAs: RunAsUser,
  ) {
    this.processes = new ControlledProcesses(parent, folder, isThreaded(runAs));
  }

  /**
   * Calls `spawn` with the user whose process begins in this group. With a launcher that joins it instead of its parent.
   * Without one this thread joins, because a child begins in the group of the thread that forks it. A thread that moves
   * itself need not wait, while the kernel delays any other move by up to 10 ms.
   */
  enclose<T>(spawn: (runAs: RunAsUser) => T): T {
    const { runAs, parent, folder } = this;
    if (runAs.launcher !== undefined) return spawn({ ...runAs, launcher: this.#joining(runAs.launcher) });
    const file = parent.version === 1 ? 'tasks' : 'cgroup.threads';
    writeFileSync(join(folder, file), THIS_THREAD);
    try {
      return spawn(runAs);
    } finally {
      this.#leave(join(parent.folder, file));
    }
  }

  /** Its failure is none of the command, which runs by now: the next execution takes the thread along. */
  #leave(file: string): void {
    try {
      writeFileSync(file, THIS_THREAD);
    } catch {
      // `ControlledProcesses` spares the guest.
    }
  }

  #joining([program, ...args]: readonly [string, ...string[]]): readonly [string, ...string[]] {
    const within = `${this.parent.folder}/`;
    const moved = args.map((arg) =>
      arg.startsWith(within) ? join(this.folder, arg.slice(within.length)) : arg,
    );
    return [program, ...moved];
  }
}

const THIS_THREAD = '0';

/** Only in version 2, which otherwise moves whole processes: those of a threaded group can be in different groups. */
const isThreaded = ({ executionGroups, launcher }: RunAsUser): boolean =>
  executionGroups?.version === 2 && launcher === undefined;

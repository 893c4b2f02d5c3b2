import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { becomesTrue } from '../../poll.js';
import type { BoxStats } from '../driver.js';
import { DriverError } from '../driver-error.js';
import { lineValue, processorSeconds, toCount, usedMemory } from './cgroup-figures.js';
import type { Controller, Hierarchy } from './cgroup-hierarchies.js';

/** Time limit in milliseconds for freezing, thawing or ending all processes of a box. */
export const COMPLETE_WITHIN_MS = 5_000;
/** A freeze takes a few milliseconds unless it is stuck. */
const AGAIN_AFTER_MS = 50;

/**
 * Freezes and measures boxes through their cgroups, version 1 or 2, within milliseconds and without other programs. For
 * every driver whose boxes each have a group `<hierarchy>/<name>`.
 */
export class BoxCgroups {
  readonly freezer: Hierarchy;

  constructor(readonly hierarchies: readonly Hierarchy[]) {
    const freezer = hierarchies.find(({ freezes }) => freezes);
    if (freezer === undefined) throw new Error('None of the cgroup hierarchies can freeze.');
    this.freezer = freezer;
  }

  /** Ids of the processes of the box and of the groups below its own; `[]` if it has no group. */
  async pids(name: string): Promise<readonly number[]> {
    const groups = this.freezer.version === 2 ? await this.#withBelow(name) : [name];
    const texts = await Promise.all(groups.map((group) => this.#read(group, 'cgroup.procs')));
    // The kernel lists processes outside our PID namespace as 0.
    return texts
      .flatMap((text) => text.split('\n'))
      .map(Number)
      .filter((pid) => pid > 0);
  }

  /** Resolves when every process has stopped. Errors: `box_absent`; `box_stuck`, and the box runs on. */
  async freeze(name: string): Promise<void> {
    await this.setFrozen(name, true);
    const giveUpAt = performance.now() + COMPLETE_WITHIN_MS;
    do {
      if (await becomesTrue(() => this.isFrozen(name), AGAIN_AFTER_MS)) return;
      await this.#freezeAgain(name);
    } while (performance.now() < giveUpAt);
    await this.setFrozen(name, false);
    throw new DriverError('box_stuck', 'The processes of the agent could not be frozen.');
  }

  /**
   * Version 1 can get stuck halfway while processes fork: some are frozen, and one waits for them in the kernel and never
   * freezes. Thawing lets it go on, and another attempt succeeds. Version 2 has no such state.
   */
  async #freezeAgain(name: string): Promise<void> {
    if (this.freezer.version === 2) return;
    await this.setFrozen(name, false);
    await this.setFrozen(name, true);
  }

  /** Errors: `box_absent`, `box_stuck`. */
  async thaw(name: string): Promise<void> {
    await this.setFrozen(name, false);
    if (!(await becomesTrue(async () => !(await this.isFrozen(name)), COMPLETE_WITHIN_MS)))
      throw new DriverError('box_stuck', 'The processes of the agent could not be thawed.');
  }

  async isFrozen(name: string): Promise<boolean> {
    if (this.freezer.version === 2) return /^frozen 1$/m.test(await this.#read(name, 'cgroup.events'));
    return (await this.#read(name, 'freezer.state')).trim() === 'FROZEN';
  }

  /** Asks the kernel to freeze or thaw, without waiting for it. Errors: `box_absent`. */
  async setFrozen(name: string, frozen: boolean): Promise<void> {
    const [file, value] =
      this.freezer.version === 2
        ? ['cgroup.freeze', frozen ? '1' : '0']
        : ['freezer.state', frozen ? 'FROZEN' : 'THAWED'];
    // Without O_CREAT: the kernel reports a missing group as a missing file instead of a forbidden creation.
    await writeFile(this.file(name, file), value, { flag: 'r+' }).catch((error: unknown) => {
      if (isMissing(error)) throw new DriverError('box_absent', 'The agent has no processes on this host.');
      throw error;
    });
  }

  /** Memory and processes are those of the group `limited`. null if the box has no group. */
  async stats(name: string, limited = name): Promise<BoxStats | null> {
    const pids = await this.pids(name);
    if (pids.length === 0) return null;
    const [memory, cpu, tasks] = await Promise.all([
      this.#memory(limited),
      this.#figure(name, 'cpuacct', 'cpu.stat', 'cpuacct.usage'),
      this.#figure(limited, 'pids', 'pids.current', 'pids.current'),
    ]);
    return {
      ...memory,
      cpuSeconds: (cpu === null ? undefined : processorSeconds(cpu.version, cpu.text)) ?? null,
      processes: (tasks === null ? undefined : toCount(tasks.text)) ?? pids.length,
    };
  }

  /** Names of all groups, including those without processes. */
  async list(): Promise<readonly string[]> {
    const entries = await readdir(this.freezer.folder, { withFileTypes: true }).catch(() => []);
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  }

  /** Path of a file in the box's freezing group. */
  file(name: string, file: string): string {
    return join(this.freezer.folder, name, file);
  }

  async #memory(name: string): Promise<Pick<BoxStats, 'memoryBytes' | 'oomKills'>> {
    const [usage, stat, events] = await Promise.all([
      this.#figure(name, 'memory', 'memory.current', 'memory.usage_in_bytes'),
      this.#figure(name, 'memory', 'memory.stat', 'memory.stat'),
      this.#figure(name, 'memory', 'memory.events', 'memory.oom_control'),
    ]);
    const memoryBytes = usage === null ? undefined : usedMemory(usage.version, usage.text, stat?.text ?? '');
    return {
      memoryBytes: memoryBytes ?? null,
      oomKills: (events === null ? undefined : lineValue(events.text, 'oom_kill')) ?? null,
    };
  }

  /** Content of the file with the figure for the cgroup version in use; null if no hierarchy counts it. */
  async #figure(
    name: string,
    controller: Controller,
    v2: string,
    v1: string,
  ): Promise<{ readonly version: 1 | 2; readonly text: string } | null> {
    const hierarchy = this.hierarchies.find(({ controllers }) => controllers.includes(controller));
    if (hierarchy === undefined) return null;
    const { version, folder } = hierarchy;
    const file = join(folder, name, version === 2 ? v2 : v1);
    return { version, text: await readFile(file, 'utf8').catch(() => '') };
  }

  async #withBelow(name: string): Promise<readonly string[]> {
    const entries = await readdir(this.file(name, ''), { withFileTypes: true }).catch(() => []);
    const below = entries.filter((entry) => entry.isDirectory()).map((entry) => join(name, entry.name));
    return [name, ...(await Promise.all(below.map((group) => this.#withBelow(group)))).flat()];
  }

  #read(name: string, file: string): Promise<string> {
    return readFile(this.file(name, file), 'utf8').catch(() => '');
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

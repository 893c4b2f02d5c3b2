import { setTimeout as sleep } from 'node:timers/promises';
import { BenchError } from '../bench-error.js';
import type { ApiClient } from '../programs/api-client.js';
import type { BerthProgram } from '../programs/berth-program.js';
import {
  GUEST,
  kindOf,
  listTree,
  processTree,
  X_SERVER,
  type ListedProcess,
  type ProcessMemory,
} from '../programs/process-memory.js';

interface ComputerState {
  readonly id: string;
  readonly status: string;
}

interface Executed {
  readonly status: string;
  readonly exitCode: number;
  readonly stdout: string;
}

export interface OpenedViewer {
  readonly socketUrl: string;
}

const START_MS = 60_000;
const COLD_MS = 30_000;

/** A computer of a Berth of the bench, through the public API. It never falls asleep by itself. */
export class BenchComputer {
  private constructor(
    private readonly berth: BerthProgram,
    private readonly path: string,
    /** Processes that the Berth had before. */
    private readonly earlier: ReadonlySet<number>,
  ) {}

  /** Undefined where the machine lacks software for desktops. */
  static async create(berth: BerthProgram): Promise<BenchComputer | undefined> {
    const earlier = new Set((await listTree(berth.program.pid)).map(({ pid }) => pid));
    const body = { idleTtlSeconds: 0 };
    const { status, text } = await berth.api.attempt('POST', '/api/v1/computers', body);
    if (status === 501) return undefined;
    if (status !== 201) throw new BenchError(`POST /api/v1/computers returned ${status}: ${text}`);
    const { id } = JSON.parse(text) as ComputerState;
    const computer = new BenchComputer(berth, `/api/v1/computers/${id}`, earlier);
    await computer.#until('running');
    return computer;
  }

  get api(): ApiClient {
    return this.berth.api;
  }

  screenshot(): Promise<unknown> {
    return this.api.call('GET', `${this.path}/screenshot`);
  }

  async act(...actions: readonly object[]): Promise<void> {
    const path = `${this.path}/actions`;
    const { failedIndex, results } = await this.api.json<{ failedIndex: number | null; results: unknown }>(
      'POST',
      path,
      { actions },
    );
    if (failedIndex !== null) throw new BenchError(`An action failed: ${JSON.stringify(results)}`);
  }

  async run(command: string): Promise<string> {
    const ended = await this.api.json<Executed>('POST', `${this.path}/exec`, { command });
    if (ended.status !== 'completed' || ended.exitCode !== 0)
      throw new BenchError(`"${command}" ended ${JSON.stringify(ended).slice(0, 500)}`);
    return ended.stdout;
  }

  view(): Promise<OpenedViewer> {
    return this.api.json('POST', `${this.path}/viewer`, { ttlSeconds: 3_600 });
  }

  async sleep(): Promise<void> {
    const { status } = await this.api.json<ComputerState>('POST', `${this.path}/sleep`);
    if (status !== 'sleeping') throw new BenchError(`The computer is ${status} after it was put to sleep.`);
  }

  /** Puts it to sleep and waits until its processes are gone. */
  async sleepCold(): Promise<void> {
    await this.sleep();
    for (const end = performance.now() + COLD_MS; performance.now() < end; await sleep(100))
      if ((await this.#processes()).length === 0) return;
    throw new BenchError('The computer still has processes although it sleeps.');
  }

  /** The memory of its processes, its guest included. */
  async memory(): Promise<readonly ProcessMemory[]> {
    const own = new Set((await this.#processes()).map(({ pid }) => pid));
    return (await processTree(this.berth.program.pid)).filter(({ pid }) => own.has(pid));
  }

  /** The process id of its X server. */
  async serverPid(): Promise<number> {
    const server = (await this.#processes()).find((one) => kindOf(one, 0) === X_SERVER);
    if (server === undefined) throw new BenchError('The computer has no X server.');
    return server.pid;
  }

  async remove(): Promise<void> {
    await this.api.call('DELETE', this.path);
  }

  /** Its guest and what that started; the other parts of a Berth start processes too. */
  async #processes(): Promise<readonly ListedProcess[]> {
    const all = await listTree(this.berth.program.pid);
    const guests = all.filter((one) => kindOf(one, 0) === GUEST && !this.earlier.has(one.pid));
    return (await Promise.all(guests.map(({ pid }) => listTree(pid)))).flat();
  }

  async #until(wanted: string): Promise<void> {
    for (const end = performance.now() + START_MS; performance.now() < end; await sleep(50)) {
      const { status } = await this.api.json<ComputerState>('GET', this.path);
      if (status === wanted) return;
      if (status === 'failed') break;
    }
    throw new BenchError(`The computer is not ${wanted} after ${START_MS / 1_000} s.`);
  }
}

import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '@berth/kernel';
import type { ExecutionReport } from '@berth/guest-protocol';
import { eventually } from '@berth/testing';
import { createGuestFolders } from '../../agent/agent-folders.js';
import { GuestClient } from '../../guest/guest-client.js';
import type { BoxSource, BoxSpec } from '../box-spec.js';
import type { Box, Driver, DriverCapabilities } from '../driver.js';
import { widestNetwork } from '../requirements.plan.js';

/** A driver that the contract suite is run against. */
export interface DriverUnderTest {
  /** Creates a driver, which is not open yet, for the installation with its data in `dataDir`. */
  create(dataDir: string): Driver | Promise<Driver>;
  /** A source that the driver can run: an environment with `sh`, `sleep`, `cat`, `cut`, `head`, `tail` and `id`. */
  readonly source: BoxSource;
  /** Name of a file in the code folder of a box with that source. */
  readonly codeFile: string;
  /** The capabilities that it has on every host: the tests of a capability are registered only if it is among them. */
  readonly offers: OfferedEverywhere;
  /** At least so much memory the statistics count for the guest alone; 0: they count only the agent's processes. */
  readonly guestMemoryBytes: number;
}

/** The optional features whose tests depend on them as a whole. */
export interface OfferedEverywhere extends Pick<DriverCapabilities, 'isolation' | 'tasks'> {
  readonly limitsDisk: boolean;
}

const COMMAND_MS = 30_000;
const MB = 1024 * 1024;

/** A box whose guest responds, and in which commands can be run. */
export class StartedBox {
  constructor(
    readonly box: Box,
    readonly client: GuestClient,
  ) {}

  /** Runs a shell command to its end, or until it has timed out. */
  run(command: string, timeoutMs = COMMAND_MS): Promise<ExecutionReport> {
    const executionId = newId('exe');
    const request = { executionId, command, cwd: null, env: {}, timeoutMs, waitMs: COMMAND_MS };
    return this.client.execute(request, AbortSignal.timeout(COMMAND_MS));
  }

  /** Output of a shell command. */
  async sh(command: string): Promise<string> {
    return ((await this.run(command)).stdout ?? '').trim();
  }

  /** Runs a script in the background and in its own session, so that it does not end with the command. */
  async detach(script: string): Promise<void> {
    await this.sh(`setsid sh -c '${script}' >/dev/null 2>&1 &`);
  }

  /** Starts a process that ignores TERM and records the machine's uptime about every 10 ms. */
  async tick(): Promise<void> {
    await this.detach(
      'trap "" TERM HUP; while :; do cut -d" " -f1 /proc/uptime >> $BERTH_VOLUME/ticks; sleep 0.01; done',
    );
    await eventually(async () => (await this.ticks()).length > 1);
  }

  /** The recorded uptimes in seconds. */
  async ticks(): Promise<readonly number[]> {
    const text = await this.sh('cat $BERTH_VOLUME/ticks 2>/dev/null');
    return text === '' ? [] : text.split('\n').map(Number);
  }
}

/** Uptime of the machine in seconds, to 10 ms: boxes of every driver have the same. */
export const uptime = (): number => Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]);

/** One installation with the driver under test, opened. */
export class DriverFixture {
  readonly #clients: GuestClient[] = [];
  readonly #agents = new Set<string>();

  private constructor(
    readonly underTest: DriverUnderTest,
    readonly dataDir: string,
    public driver: Driver,
  ) {}

  static async open(underTest: DriverUnderTest): Promise<DriverFixture> {
    const dataDir = mkdtempSync(join(tmpdir(), 'berth-driver-'));
    chmodSync(dataDir, 0o700);
    const driver = await underTest.create(dataDir);
    await driver.open();
    return new DriverFixture(underTest, dataDir, driver);
  }

  /** A spec that the driver can run; the agent id is new unless `changes` sets one. */
  async spec(changes: Partial<BoxSpec> = {}): Promise<BoxSpec> {
    const agentId = changes.agentId ?? newId('agt');
    const { run, logs, journal } = await createGuestFolders(this.dataDir, agentId);
    return {
      agentId,
      epoch: 1,
      source: this.underTest.source,
      command: null,
      env: {},
      guestFolders: { run, logs, journal },
      limits: { memoryBytes: 256 * MB, cpus: 1, processes: 256, diskBytes: 256 * MB },
      user: 'unprivileged',
      rootFileSystem: 'read-only',
      runtimeClass: null,
      volumePath: null,
      network: widestNetwork(this.driver.capabilities),
      ...changes,
    };
  }

  async start(changes: Partial<BoxSpec> = {}): Promise<StartedBox> {
    const spec = await this.spec(changes);
    this.#agents.add(spec.agentId);
    await this.driver.prepare(spec.source);
    return this.enter(await this.driver.start(spec));
  }

  /** Waits for the box's guest and gives it a program-less agent. */
  async enter(box: Box): Promise<StartedBox> {
    const started = this.connect(box);
    await eventually(() => started.client.health());
    const { inside, runAs, command, agentId } = box;
    await started.client.putProgram(
      {
        agentId,
        command,
        cwd: inside.code,
        volume: inside.volume,
        storage: inside.storage,
        tmp: inside.tmp,
        path: inside.path,
        runAs,
        env: {},
        token: 'token',
        instructions: null,
        restart: { maxDeaths: 3, windowMs: 60_000, maxEarlyDeaths: 2 },
        readyWithinMs: COMMAND_MS,
      },
      AbortSignal.timeout(COMMAND_MS),
    );
    return started;
  }

  /** Connects to a box whose guest already has its program. */
  connect(box: Box): StartedBox {
    const client = new GuestClient(box.socket);
    this.#clients.push(client);
    return new StartedBox(box, client);
  }

  /** Replaces the driver by a new one on the same installation, as a restart of the host's process does. */
  async reopen(): Promise<void> {
    await this.driver.close();
    this.driver = await this.underTest.create(this.dataDir);
    await this.driver.open();
  }

  async listed(): Promise<readonly string[]> {
    return (await this.driver.list()).map(({ agentId }) => agentId).toSorted();
  }

  /** Removes all boxes and the installation's data. */
  async destroy(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    for (const agentId of new Set([...this.#agents, ...(await this.listed())]))
      await this.driver.remove(agentId);
    await this.driver.close();
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}

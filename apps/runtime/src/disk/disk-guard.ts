import { join } from 'node:path';
import { diskSpace, type DiskSpace, type DiskState } from '@berth/host-requirements';
import { pause, Supervisor } from '@berth/supervision';
import { Logger, metrics } from '@berth/telemetry';
import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { HostedAgents } from '../agent/hosted-agents.js';
import { RuntimeConfig } from '../config.js';
import { Driver } from '../driver/driver.js';
import { Ballast, BALLAST_INODES } from './ballast.js';
import { reserveBytes } from './disk-room.js';
import { Takers } from './takers.js';

const EVERY_MS = 250;
/** The share of the reserve that an agent may take within a minute. */
const OWN_SHARE = 1 / 16;

const ENDED =
  'The agent went on writing while the disk of its host was nearly full, so it was ended. What it wrote is kept.';

const LOGGED: Readonly<Record<DiskState, readonly ['info' | 'warn' | 'error', string]>> = {
  ok: ['info', 'The disk of this host has room again.'],
  low: ['warn', 'More than 90 % of the disk of this host is used. Make room, or move agents away.'],
  full: [
    'error',
    'The disk of this host is full: no agent starts, and changes are refused until there is room.',
  ],
};

interface AgentsOnDisk extends Pick<HostedAgents, 'observed'> {
  of(agentId: string): { readonly current: { readonly awake: { end(reason: string): void } | null } };
}

/**
 * Keeps agents from taking the last space of this host, which the log, the broker and the database need where they share
 * its disk. Reserves space twice: below the first reserve, agents that go on writing are ended; the second is the ballast,
 * which is given up when the disk is full.
 */
@Injectable()
export class DiskGuard implements OnApplicationBootstrap {
  readonly #folder: string;
  readonly #ballast: Ballast;
  #logged: DiskState = 'ok';
  #isWhole = false;
  readonly #writers: Takers;
  readonly #creators: Takers;

  constructor(
    @Inject(RuntimeConfig) { dataDir }: Pick<RuntimeConfig, 'dataDir'>,
    @Inject(Driver) driver: Pick<Driver, 'writtenBytes' | 'fileCount'>,
    @Inject(HostedAgents) private readonly agents: AgentsOnDisk,
    private readonly supervisor: Supervisor,
    private readonly log: Logger,
  ) {
    this.#folder = dataDir;
    this.#writers = new Takers((agentId) => driver.writtenBytes(agentId));
    this.#creators = new Takers((agentId) => driver.fileCount(agentId));
    this.#ballast = new Ballast(join(dataDir, 'ballast'));
    metrics.gauge(
      'berth_disk_used_ratio',
      'Used share of the disk of BERTH_RUNTIME_DATA.',
      [],
      () => this.space().usedShare,
    );
    metrics.gauge(
      'berth_disk_free_bytes',
      'Free space on the disk of BERTH_RUNTIME_DATA.',
      [],
      () => this.space().freeBytes,
    );
  }

  onApplicationBootstrap(): void {
    this.supervisor.start('disk guard', (signal) => this.run(signal));
  }

  space(): DiskSpace {
    return diskSpace(this.#folder);
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.look();
      await pause(EVERY_MS, signal);
    }
  }

  /** Looks at the disk once and does what is due. */
  async look(): Promise<void> {
    const space = this.space();
    this.#report(space.state);
    const reserve = reserveBytes(space.totalBytes);
    const [lacksBytes, lacksInodes] = [space.freeBytes < reserve, space.freeInodes < BALLAST_INODES];
    if (lacksBytes) await this.#endTakers(this.#writers, reserve * OWN_SHARE, 'bytes');
    else this.#writers.reset();
    if (lacksInodes) await this.#endTakers(this.#creators, BALLAST_INODES * OWN_SHARE, 'files');
    else this.#creators.reset();
    if (space.state === 'full' && (await this.#ballast.giveUpSlice())) this.#isWhole = false;
    const hasPlenty = space.freeBytes >= 3 * reserve && space.freeInodes >= 3 * BALLAST_INODES;
    if (hasPlenty && !this.#isWhole) await this.#restore(reserve);
  }

  async #restore(bytes: number): Promise<void> {
    this.#isWhole = true;
    await this.#ballast.restore(bytes).catch((error: unknown) => {
      this.log.warn({ err: error }, 'no space could be set aside for the time when the disk is full');
    });
  }

  async #endTakers(takers: Takers, most: number, what: 'bytes' | 'files'): Promise<void> {
    const awake = this.agents.observed.flatMap(({ agentId, state }) => (state === 'running' ? agentId : []));
    for (const [agentId, taken] of await takers.find(awake, most)) {
      this.log.warn({ agentId, [what]: taken }, 'ending an agent that fills the disk');
      this.agents.of(agentId).current.awake?.end(ENDED);
    }
  }

  #report(state: DiskState): void {
    if (state === this.#logged) return;
    this.#logged = state;
    const [level, message] = LOGGED[state];
    this.log[level]({ folder: this.#folder }, message);
  }
}

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startEmbedded, type EmbeddedInfrastructure } from '@berth/embedded';
import type { Logger } from '@berth/telemetry';
import type { Scale } from './options.js';
import { BerthProgram } from './programs/berth-program.js';
import type { Environment } from './programs/child-environment.js';

/** How long and how often to measure. Many short rounds keep the two sides of a ratio close together in time. */
export interface Effort {
  readonly rounds: number;
  /** Number of rounds for measurements that cannot be short. */
  readonly longRounds: number;
  /** Number of rounds for differences that are small compared with what is measured. */
  readonly manyRounds: number;
  /** Length of a round that repeats until time is up. */
  readonly roundMs: number;
  readonly warmUpMs: number;
  /** For rare operations, where a shorter warm-up would end before everything is compiled. */
  readonly longWarmUpMs: number;
  /** Length of a round for slow operations, where a shorter round would measure too few. */
  readonly longRoundMs: number;
  /** Length of a round of the load generator, which counts in whole seconds. */
  readonly loadSeconds: number;
  /** Iterations of a round with a fixed count. */
  readonly warmWakes: number;
  readonly coldWakes: number;
  readonly rebuildEvents: number;
}

export const FULL: Effort = {
  rounds: 5,
  longRounds: 3,
  manyRounds: 40,
  roundMs: 800,
  longRoundMs: 2_500,
  warmUpMs: 700,
  longWarmUpMs: 5_000,
  loadSeconds: 1,
  warmWakes: 6,
  coldWakes: 3,
  rebuildEvents: 100_000,
};

export const QUICK: Effort = {
  rounds: 1,
  longRounds: 1,
  manyRounds: 1,
  roundMs: 700,
  longRoundMs: 1_000,
  warmUpMs: 400,
  longWarmUpMs: 2_000,
  loadSeconds: 1,
  warmWakes: 5,
  coldWakes: 2,
  rebuildEvents: 10_000,
};

/**
 * Resources shared by the parts. Infrastructure and Berth start when the first part requests them, never two of a kind
 * at once.
 */
export class BenchContext {
  #infrastructure: EmbeddedInfrastructure | undefined;
  #berth: BerthProgram | undefined;
  /** How often the infrastructure was discarded: part of the names of its folders. */
  #discarded = 0;

  constructor(
    readonly effort: Effort,
    readonly folder: string,
    readonly env: Environment,
    readonly log: Logger,
    readonly scale: Scale,
  ) {}

  /** The embedded parts alone, as children of this process. */
  async infrastructure(): Promise<EmbeddedInfrastructure> {
    await this.#berth?.stop();
    this.#berth = undefined;
    this.#infrastructure ??= await startEmbedded({ dataDir: this.partsFolder('parts'), log: this.log });
    return this.#infrastructure;
  }

  /** The next infrastructure is empty: for a part that needs that, or leaves what a Berth cannot run on. */
  async discardInfrastructure(): Promise<void> {
    await this.stop();
    this.#discarded++;
  }

  /** A whole Berth in a separate process. */
  async berth(): Promise<BerthProgram> {
    if (this.#infrastructure !== undefined) await this.stop();
    this.#berth ??= await BerthProgram.start(this.berthFolder, this.env);
    return this.#berth;
  }

  /** A whole Berth on parts of this process, so that they can also be accessed directly. */
  async berthOnParts(): Promise<{ berth: BerthProgram; parts: EmbeddedInfrastructure }> {
    const parts = await this.infrastructure();
    const { natsUrl, eventStoreUrl, databaseUrl } = parts;
    const settings = { NATS_URL: natsUrl, EVENTSTORE_URL: eventStoreUrl, DATABASE_URL: databaseUrl };
    this.#berth = await BerthProgram.start(this.partsFolder('berth-on-parts'), this.env, { settings });
    return { berth: this.#berth, parts };
  }

  /** A data folder that a Berth has already run on. */
  async usedFolder(): Promise<string> {
    await this.berth();
    await this.stop();
    return this.berthFolder;
  }

  async removeAgents(): Promise<void> {
    await this.#berth?.removeAgents();
  }

  /** A path inside this run's folder. */
  file(name: string): string {
    mkdirSync(this.folder, { recursive: true });
    return join(this.folder, name);
  }

  async stop(): Promise<void> {
    await this.#berth?.stop();
    this.#berth = undefined;
    await this.#infrastructure?.stop();
    this.#infrastructure = undefined;
  }

  private partsFolder(name: string): string {
    return join(this.folder, `${name}-${String(this.#discarded)}`);
  }

  private get berthFolder(): string {
    return join(this.folder, 'berth');
  }
}

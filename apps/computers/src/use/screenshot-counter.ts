import type { ComputerRef } from '@berth/contracts/computers';
import { Clock, isoTime } from '@berth/kernel';
import { pause } from '@berth/supervision';
import { Logger } from '@berth/telemetry';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { systemOrigin } from '../computer/computer.command-handler.js';
import { ComputerUseStreams } from './computer-use.streams.js';

const GATHER_MS = 1_000;
const RETRY_MS = 1_000;

/** The commands of the screenshots that were not recorded yet. */
interface Gathered {
  readonly accountId: string;
  readonly commandIds: Set<string>;
}

/**
 * Counts screenshots, which a model may take several of a second, so that none of them waits for the log: those of a
 * computer within a second become one event. A process that is killed loses those of its last second.
 */
@Injectable()
export class ScreenshotCounter implements OnModuleDestroy {
  readonly #gathered = new Map<string, Gathered>();
  readonly #recording = new Set<Promise<void>>();
  readonly #ending = new AbortController();

  constructor(
    private readonly uses: ComputerUseStreams,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** A command that is sent again while it is not recorded yet counts once. */
  add({ accountId, computerId, commandId }: ComputerRef): void {
    const gathered = this.#gathered.get(computerId);
    if (gathered !== undefined) {
      gathered.commandIds.add(commandId);
      return;
    }
    const first = { accountId, commandIds: new Set([commandId]) };
    this.#gathered.set(computerId, first);
    const recording = this.#record(computerId, commandId, first).finally(() =>
      this.#recording.delete(recording),
    );
    this.#recording.add(recording);
  }

  async onModuleDestroy(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#recording);
  }

  async #record(computerId: string, firstId: string, gathered: Gathered): Promise<void> {
    await pause(GATHER_MS, this.#ending.signal);
    this.#gathered.delete(computerId);
    const { accountId, commandIds } = gathered;
    const data = { computerId, count: commandIds.size, at: isoTime(this.clock.now()) };
    const origin = systemOrigin(accountId, `${firstId}/screenshots`);
    for (;;) {
      try {
        await this.uses.handle(computerId, { type: 'ScreenshotsTaken', data }, origin);
        return;
      } catch (error) {
        this.log.warn({ computerId, err: error }, 'could not record screenshots yet');
        if (this.#ending.signal.aborted) return;
        await pause(RETRY_MS, this.#ending.signal);
      }
    }
  }
}

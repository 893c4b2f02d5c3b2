import type { ProjectionRunner } from '@berth/event-store';
import { Clock, DomainError } from '@berth/kernel';
import { InjectProjection } from '@berth/service';
import { Injectable } from '@nestjs/common';
import { COMPUTER_USAGE, USAGE } from '../meter/usage.projection.js';

/** A moment is used for this long, so that concurrent queries ask the log once. */
const FRESH_MS = 2_000;
const WITHIN_MS = 5_000;

interface Moment {
  readonly at: number;
  readonly counted: Promise<void>;
}

/** The moment until which all events are counted in the usage of agents. */
@Injectable()
export class CountedUntil {
  #moment: Moment | undefined;

  constructor(
    @InjectProjection(USAGE) private readonly usage: Pick<ProjectionRunner, 'untilCaughtUp'>,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns a moment of the last seconds (Unix milliseconds), once the events that the log had then are counted. Errors:
   * unavailable `service_unavailable` if that takes longer than 5 s.
   */
  async now(): Promise<number> {
    const now = this.clock.now();
    if (this.#moment === undefined || !isFresh(this.#moment.at, now)) {
      const begun: Moment = { at: now, counted: this.#untilCounted(WITHIN_MS) };
      begun.counted.catch(() => {
        if (this.#moment === begun) this.#moment = undefined;
      });
      this.#moment = begun;
    }
    const { at, counted } = this.#moment;
    await counted;
    return at;
  }

  /** As `now`, but always waits for the projection, for up to `withinMs`: under load it lags by more than a query may wait. */
  async patiently(withinMs: number): Promise<number> {
    const now = this.clock.now();
    await this.#untilCounted(withinMs);
    return now;
  }

  async #untilCounted(withinMs: number): Promise<void> {
    const timeout = AbortSignal.timeout(withinMs);
    try {
      await this.usage.untilCaughtUp(timeout);
    } catch (error) {
      if (!timeout.aborted) throw error;
      throw new DomainError(
        'unavailable',
        'service_unavailable',
        'The usage of the last seconds is not counted yet; try again shortly.',
      );
    }
  }
}

/** The same for the usage of computers. */
@Injectable()
export class ComputersCountedUntil extends CountedUntil {
  constructor(
    @InjectProjection(COMPUTER_USAGE) usage: Pick<ProjectionRunner, 'untilCaughtUp'>,
    clock: Clock,
  ) {
    super(usage, clock);
  }
}

/** A moment to come is from before the clock was set back. */
const isFresh = (at: number, now: number): boolean => at <= now && now - at < FRESH_MS;

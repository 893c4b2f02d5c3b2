import type { ActionError, MouseButton, Point, Size, Step, Unit } from '@berth/contracts/computers';
import { DomainError, isDomainError } from '@berth/kernel';
import type { Desktop } from '../desktop.js';
import type { ImageRequest, ScreenImage } from '../screen/screen.js';
import type { BatchOutcome, Found, FoundByUnit } from './outcome.js';
import { isLook, performAct, performLook, performMoves, PNG, type StepMeans } from './perform-step.js';
import { stepsAfterFailure } from './steps-after-failure.js';

/** Of all images that the actions of a batch make. */
const MOST_IMAGE_BYTES = 128 * 1024 * 1024;
/** Lets nothing be interrupted: what an action pressed is let go in any case. */
const NEVER = new AbortController().signal;

/** What a batch is to do: a part of an `ActionPlan`. */
export interface Batch {
  readonly units: readonly Unit[];
  /** Whether the first unit that fails is the last that is begun. */
  readonly stopOnError: boolean;
  /** The size of an image of the still screen to make at the end; null for none. */
  readonly closing: Size | null;
}

/** What a batch finds on its desktop. */
export interface BatchGround {
  readonly desktop: Desktop;
  /** Mouse buttons that are down; they stay so after a batch. */
  readonly pressed: Set<MouseButton>;
  /**
   * Ends the batch at once. With the reason `taken_over`, its outcome says so; with any other, nothing is known of its
   * outcome.
   */
  readonly interruption: AbortSignal;
}

/** Carries out one batch. */
export class BatchRun {
  readonly #means: StepMeans;
  #imageBytes = 0;

  constructor(
    private readonly batch: Batch,
    private readonly ground: BatchGround,
  ) {
    const { desktop, pressed } = ground;
    this.#means = { desktop, pressed, capture: (request) => this.#capture(request) };
  }

  /** Throws if the desktop is lost, or the batch is ended without being taken over. */
  async run(): Promise<BatchOutcome> {
    const startedAt = performance.now();
    const { keyboard, pointer } = this.ground.desktop;
    try {
      const units = await this.#units();
      const skipped = this.batch.units.slice(units.length).find(({ closing }) => closing !== null);
      const afterFailure = skipped?.closing && (await this.#stillScreen(skipped.closing));
      await keyboard.releaseAll();
      const screenshot = this.batch.closing && (await this.#stillScreen(this.batch.closing));
      return {
        units,
        cursor: await pointer.position(),
        ...(afterFailure ? { afterFailure } : {}),
        ...(screenshot ? { screenshot } : {}),
        durationMs: Math.round(performance.now() - startedAt),
      };
    } finally {
      // Of a desktop that is lost there is nothing to let go.
      await keyboard.releaseAll().catch(() => undefined);
    }
  }

  async #units(): Promise<readonly FoundByUnit[]> {
    const done: FoundByUnit[] = [];
    for (const unit of this.batch.units) {
      const outcome = await this.#unit(unit);
      done.push(outcome);
      const isOver = this.ground.interruption.aborted || this.batch.stopOnError;
      if (outcome.error !== null && isOver) break;
    }
    return done;
  }

  async #unit({ actions, closing }: Unit): Promise<FoundByUnit> {
    let seen: Found | undefined;
    let error: ActionError | null = null;
    for (const steps of actions) {
      try {
        seen = (await this.#action(steps)) ?? seen;
      } catch (reason) {
        error = this.#toError(reason);
        break;
      }
    }
    if (closing !== null) {
      try {
        seen = { kind: 'image', image: this.#counted(await this.#stillScreen(closing)) };
      } catch (reason) {
        error ??= this.#toError(reason);
      }
    }
    return { error, ...(seen === undefined ? {} : { seen }) };
  }

  async #action(steps: readonly Step[]): Promise<Found | undefined> {
    let seen: Found | undefined;
    let at = 0;
    try {
      for (let next = 0; at < steps.length; at = next) {
        const moves = movesFrom(steps, at);
        next = at + Math.max(1, moves.length);
        seen = (await this.#step(steps[at], moves, this.ground.interruption)) ?? seen;
      }
      return seen;
    } catch (reason) {
      // The first failure is what counts.
      for (const step of stepsAfterFailure(steps, at))
        await this.#step(step, [], NEVER).catch(() => undefined);
      throw reason;
    }
  }

  /** A step, or the moves that begin with it. What only finds something out is left alone when it is interrupted. */
  async #step(
    step: Step | undefined,
    moves: readonly Point[],
    signal: AbortSignal,
  ): Promise<Found | undefined> {
    signal.throwIfAborted();
    if (step === undefined) return undefined;
    if (isLook(step)) return unlessAborted(performLook(step, this.#means), signal);
    await (step.do === 'move'
      ? performMoves(moves, this.#means, signal)
      : performAct(step, this.#means, signal));
    return undefined;
  }

  async #capture(request: ImageRequest): Promise<ScreenImage> {
    return this.#counted(await this.ground.desktop.screen.capture(request));
  }

  #counted(image: ScreenImage): ScreenImage {
    this.#imageBytes += image.data.length;
    if (this.#imageBytes <= MOST_IMAGE_BYTES) return image;
    throw new DomainError(
      'too_large',
      'images_too_large',
      'The images of one request are at most 128 MiB together.',
    );
  }

  /** An interrupted batch does not wait for the screen. */
  async #stillScreen(size: Size): Promise<ScreenImage> {
    const { desktop, interruption } = this.ground;
    await unlessAborted(desktop.screen.untilStill(), interruption).catch((reason: unknown) => {
      if (!interruption.aborted) throw reason;
    });
    return desktop.screen.capture({ ...PNG, size });
  }

  /** Throws what leaves nothing to be said of the batch. */
  #toError(reason: unknown): ActionError {
    const { interruption } = this.ground;
    const cause: unknown = interruption.aborted ? interruption.reason : reason;
    if (!isDomainError(cause))
      return { code: 'action_failed', message: 'The desktop did not carry the action out.' };
    const { code, message } = cause;
    if (code === 'display_lost' || (interruption.aborted && code !== 'taken_over')) throw cause;
    return { code, message };
  }
}

/** The points of the moves that begin at a step. */
const movesFrom = (steps: readonly Step[], at: number): readonly Point[] => {
  const points: Point[] = [];
  for (let step = steps[at]; step?.do === 'move'; step = steps[at + points.length]) points.push(step);
  return points;
};

const unlessAborted = async <T>(work: Promise<T>, signal: AbortSignal): Promise<T> => {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason as Error);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort);
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
    work.catch(() => undefined);
  }
};

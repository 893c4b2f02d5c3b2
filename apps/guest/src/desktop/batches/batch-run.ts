import {
  hasClosingImage,
  needsClosingImage,
  stepsAfterFailure,
  type ActionError,
  type ActionPlan,
  type MouseButton,
  type Step,
  type Unit,
} from '@berth/contracts/computers/plan';
import { DomainError, isDomainError } from '@berth/kernel';
import type { Desktop } from '../desktop.js';
import type { ImageRequest, ScreenImage } from '../screen/screen.js';
import type { BatchOutcome, Found, UnitResult } from './outcome.js';
import { isLook, performAct, performLook, PNG, type ActionState } from './perform-step.js';

/** Of all images that the units of a batch make. */
const MOST_IMAGE_BYTES = 128 * 1024 * 1024;
/** What is still shown of the screen when there is no room for it, a hundredth of its pixels. */
const SMALL = 0.1;
/** Lets nothing be interrupted: what an action pressed is let go in any case. */
const NEVER = new AbortController().signal;

/** What a batch finds on its desktop. */
export interface BatchGround {
  readonly desktop: Desktop;
  /** Mouse buttons that are down; they stay so after a batch. */
  readonly buttons: Set<MouseButton>;
  /**
   * Ends the batch at once. With the reason `taken_over`, its outcome says so; with any other, nothing is known of its
   * outcome.
   */
  readonly interruption: AbortSignal;
}

/** Carries out one batch of actions. */
export class BatchRun {
  #imageBytes = 0;

  constructor(
    private readonly plan: ActionPlan,
    private readonly ground: BatchGround,
  ) {}

  /** Throws if the desktop is lost, or the batch is ended without being taken over. */
  async run(): Promise<BatchOutcome> {
    const startedAt = performance.now();
    const { keyboard, pointer } = this.ground.desktop;
    try {
      const units = await this.#units();
      return {
        units,
        closing: needsClosingImage(this.plan, units.length) ? await this.#stillScreen() : null,
        // Fails if the desktop is lost.
        cursor: await pointer.position(),
        durationMs: Math.round(performance.now() - startedAt),
      };
    } finally {
      // Of a desktop that is lost there is nothing to let go.
      await keyboard.releaseAll().catch(() => undefined);
    }
  }

  async #units(): Promise<readonly UnitResult[]> {
    const done: UnitResult[] = [];
    for (const unit of this.plan.units) {
      const result = await this.#unit(unit);
      done.push(result);
      const isLast = this.ground.interruption.aborted || this.plan.stopOnError;
      if (result.error !== null && isLast) break;
    }
    return done;
  }

  async #unit(unit: Unit): Promise<UnitResult> {
    let seen: Found | null = null;
    let error: ActionError | null = null;
    try {
      for (const steps of unit.actions) seen = (await this.#action(steps)) ?? seen;
    } catch (reason) {
      error = this.#toError(reason);
    }
    if (!hasClosingImage(unit)) return { error, seen };
    const closing = await this.#stillScreen();
    try {
      return { error, closing: this.#counted(closing) };
    } catch (reason) {
      return { error: error ?? this.#toError(reason), closing: await this.#stillScreen(SMALL) };
    }
  }

  async #action(steps: readonly Step[]): Promise<Found | null> {
    const { desktop, buttons, interruption } = this.ground;
    const state: ActionState = { desktop, buttons, keys: undefined };
    let seen: Found | null = null;
    for (const [index, step] of steps.entries()) {
      try {
        seen = (await this.#step(step, state, interruption)) ?? seen;
      } catch (reason) {
        // The first failure is what counts.
        for (const last of stepsAfterFailure(steps, index))
          await this.#step(last, state, NEVER).catch(() => undefined);
        throw reason;
      }
    }
    return seen;
  }

  /** What only finds something out is left alone when it is interrupted. */
  async #step(step: Step, state: ActionState, signal: AbortSignal): Promise<Found | null> {
    signal.throwIfAborted();
    if (isLook(step)) {
      const found = performLook(step, state.desktop, (request) => this.#capture(request));
      return unlessAborted(found, signal);
    }
    await performAct(step, state, signal);
    return null;
  }

  async #capture(request: ImageRequest): Promise<ScreenImage> {
    return this.#counted(await this.ground.desktop.screen.capture(request));
  }

  #counted(image: ScreenImage): ScreenImage {
    if (this.#imageBytes + image.data.length > MOST_IMAGE_BYTES) throw tooManyImages();
    this.#imageBytes += image.data.length;
    return image;
  }

  /** An interrupted batch does not wait for the screen. */
  async #stillScreen(scale = 1): Promise<ScreenImage> {
    const { desktop, interruption } = this.ground;
    const { width, height } = this.plan.screen.size;
    await unlessAborted(desktop.screen.untilStill(), interruption).catch((reason: unknown) => {
      if (!interruption.aborted) throw reason;
    });
    const side = (pixels: number): number => Math.max(1, Math.round(pixels * scale));
    return desktop.screen.capture({ ...PNG, size: { width: side(width), height: side(height) } });
  }

  /** Throws if the batch is ended. */
  #toError(reason: unknown): ActionError {
    const { interruption } = this.ground;
    const cause: unknown = interruption.aborted ? interruption.reason : reason;
    if (!isDomainError(cause))
      return { code: 'action_failed', message: 'The desktop did not carry the action out.' };
    const { code, message } = cause;
    if (interruption.aborted && code !== 'taken_over') throw cause;
    return { code, message };
  }
}

const tooManyImages = (): DomainError =>
  new DomainError(
    'too_large',
    'images_too_large',
    `The images of one request are at most ${MOST_IMAGE_BYTES / 1024 / 1024} MiB together.`,
  );

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

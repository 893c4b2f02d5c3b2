import { setTimeout as delay } from 'node:timers/promises';
import type { ActionPlan, MouseButton } from '@berth/contracts/computers/plan';
import { detach, DomainError } from '@berth/kernel';
import { Semaphore } from '../../files/semaphore.js';
import type { Desktop } from '../desktop.js';
import { desktopUnavailable, type FindDesktop } from '../find-desktop.js';
import { BatchRun } from './batch-run.js';
import type { BatchOutcome } from './outcome.js';

const MOST_WAITING = 100;
/** How long a batch waits for a desktop that is starting again. */
const DESKTOP_WITHIN_MS = 20_000;
/** How long the end of a batch under way may take: it lets go what it holds. */
const END_WITHIN_MS = 2_000;

/** What batches share as long as a desktop lives. */
interface DesktopGround {
  readonly buttons: Set<MouseButton>;
  /** Aborts when the desktop is lost: a batch that waits is to notice. */
  readonly lost: AbortSignal;
}

/** Carries out batches of actions one at a time, in order of arrival. */
export class Batches {
  readonly #lane = new Semaphore(1);
  readonly #accepted = new Set<Promise<unknown>>();
  /** Of an earlier desktop nothing is left. */
  readonly #grounds = new WeakMap<Desktop, DesktopGround>();
  #takeover = new AbortController();
  #end = new AbortController();

  constructor(private readonly findDesktop: FindDesktop) {}

  /**
   * Errors of the call, with nothing done: conflict `taken_over`; exhausted `too_many_batches`; unavailable
   * `agent_unavailable`. The plan is read when its turn comes. If the outcome rejects, nothing is known of what was done.
   */
  accept(readPlan: () => ActionPlan): Promise<BatchOutcome> {
    this.#end.signal.throwIfAborted();
    this.#takeover.signal.throwIfAborted();
    if (this.#accepted.size > MOST_WAITING) throw tooMany();
    const outcome = this.#lane.run(() => this.#run(readPlan()), this.#end.signal);
    this.#accepted.add(outcome);
    const over = (): void => void this.#accepted.delete(outcome);
    outcome.then(over, over);
    return outcome;
  }

  /** Fails the action under way and skips the rest; nothing new is accepted until it is given back. */
  takeOver(): void {
    this.#takeover.abort(takenOver());
  }

  giveBack(): void {
    if (this.#takeover.signal.aborted) this.#takeover = new AbortController();
  }

  /** Ends all batches, so that nobody learns their outcome; nothing new is accepted until `resume`. */
  async quiesce(): Promise<void> {
    this.#end.abort(desktopUnavailable());
    await Promise.race([Promise.allSettled(this.#accepted), delay(END_WITHIN_MS)]);
  }

  resume(): void {
    if (this.#end.signal.aborted) this.#end = new AbortController();
  }

  async #run(plan: ActionPlan): Promise<BatchOutcome> {
    const end = this.#end.signal;
    const desktop = await this.findDesktop(DESKTOP_WITHIN_MS);
    if (desktop === undefined) throw desktopUnavailable();
    const { buttons, lost } = this.#groundOf(desktop);
    const interruption = AbortSignal.any([end, lost, this.#takeover.signal]);
    return new BatchRun(plan, { desktop, buttons, interruption }).run();
  }

  #groundOf(desktop: Desktop): DesktopGround {
    const known = this.#grounds.get(desktop);
    if (known !== undefined) return known;
    const lost = new AbortController();
    detach(desktop.lost.then((reason) => lost.abort(reason)));
    const ground = { buttons: new Set<MouseButton>(), lost: lost.signal };
    this.#grounds.set(desktop, ground);
    return ground;
  }
}

const takenOver = (): DomainError =>
  new DomainError('conflict', 'taken_over', 'A person has taken the computer over.');

const tooMany = (): DomainError =>
  new DomainError(
    'exhausted',
    'too_many_batches',
    `${MOST_WAITING} batches of actions wait for this computer already.`,
    {},
    { effect: 'none' },
  );

import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * How a step fails. `refused`: it is not executed and throws like in an outage. `lost`: it is executed, but its result
 * is lost. `late`: the caller sees an outage, and the step is executed afterwards. `slow`: it is executed after a
 * delay. `killed-before` and `killed-after`: the process dies before or after the step.
 */
export const FAULTS = ['refused', 'lost', 'late', 'slow', 'killed-before', 'killed-after'] as const;
export type FaultKind = (typeof FAULTS)[number];

/** One fault, at step number `at` of an action, counted from 1. */
export interface PlannedFault {
  readonly at: number;
  readonly kind: FaultKind;
  /** The delay of `slow` and `late`. */
  readonly afterMs: number;
}

/** A fault that occurred. */
export interface StruckFault {
  readonly step: string;
  readonly kind: FaultKind;
}

interface Action {
  readonly faults: readonly PlannedFault[];
  readonly strike: (struck: StruckFault) => void;
  steps: number;
}

/** The outcome of an action: how it ended, or that its process died first. */
export type Outcome<T> =
  | { readonly kind: 'returned'; readonly value: T }
  | { readonly kind: 'threw'; readonly error: unknown }
  | { readonly kind: 'killed' };

/**
 * A simulated process, seen through its ports: every outgoing call is a step and fails as planned for its action. Once
 * the process is killed, its steps never settle, so nothing that runs in it continues.
 */
export class FaultyProcess {
  readonly #actions = new AsyncLocalStorage<Action>();
  readonly #died = Promise.withResolvers<void>();
  readonly #late = new Set<Promise<unknown>>();
  #dead = false;

  /** `outage` creates the error that a call throws when its remote side is unavailable. */
  constructor(private readonly outage: () => Error) {}

  get dead(): boolean {
    return this.#dead;
  }

  /** Runs `work` with these faults in its steps, including steps that continue after `work` has ended. */
  async act<T>(
    faults: readonly PlannedFault[],
    strike: (struck: StruckFault) => void,
    work: () => Promise<T>,
  ): Promise<Outcome<T>> {
    const killed = this.#died.promise.then((): Outcome<T> => ({ kind: 'killed' }));
    const action: Action = { faults, strike, steps: 0 };
    const done = this.#actions.run(action, work).then(
      (value): Outcome<T> => ({ kind: 'returned', value }),
      (error: unknown): Outcome<T> => ({ kind: 'threw', error }),
    );
    return Promise.race([done, killed]);
  }

  /** Executes one outgoing call of the process. */
  async step<T>(name: string, work: () => Promise<T>): Promise<T> {
    if (this.#dead) return never();
    const action = this.#actions.getStore();
    if (action !== undefined) action.steps += 1;
    const fault = action?.faults.find(({ at }) => at === action.steps);
    if (action === undefined || fault === undefined) return this.#unlessDead(this.#tracked(work()));
    action.strike({ step: name, kind: fault.kind });
    return this.#unlessDead(this.#fail(fault, work));
  }

  kill(): void {
    this.#dead = true;
    this.#died.resolve();
  }

  /** Waits for the calls that are still in flight. */
  async settle(): Promise<void> {
    while (this.#late.size > 0) await Promise.all(this.#late);
  }

  async #fail<T>({ kind, afterMs }: PlannedFault, work: () => Promise<T>): Promise<T> {
    switch (kind) {
      case 'refused':
        throw this.outage();
      case 'lost':
        await work();
        throw this.outage();
      case 'late':
        this.#later(sleep(afterMs).then(work));
        throw this.outage();
      case 'slow':
        await sleep(afterMs);
        return work();
      case 'killed-before':
        this.kill();
        return never();
      case 'killed-after':
        this.#later(work());
        this.kill();
        return never();
    }
  }

  /** Keeps calls in flight when the process dies. */
  #tracked<T>(work: Promise<T>): Promise<T> {
    this.#later(work);
    return work;
  }

  #later(work: Promise<unknown>): void {
    const done: Promise<unknown> = work.catch(() => undefined).finally(() => this.#late.delete(done));
    this.#late.add(done);
  }

  /** A call in flight when the process dies is still executed, but its result reaches no caller. */
  async #unlessDead<T>(work: Promise<T>): Promise<T> {
    try {
      const value = await work;
      return this.#dead ? never() : value;
    } catch (error) {
      if (this.#dead) return never();
      throw error;
    }
  }
}

const never = <T>(): Promise<T> => new Promise(() => undefined);

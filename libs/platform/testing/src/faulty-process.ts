import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * How a step of the work fails. `refused`: nothing is done, and it says so as an outage does. `lost`: it is done, and its
 * answer is lost. `late`: the caller hears of an outage, and it is done afterwards. `slow`: it is done after a while.
 * `killed-before` and `killed-after`: the process dies there.
 */
export const FAULTS = ['refused', 'lost', 'late', 'slow', 'killed-before', 'killed-after'] as const;
export type FaultKind = (typeof FAULTS)[number];

/** One fault: at the `at`-th step of an action, from 1. */
export interface PlannedFault {
  readonly at: number;
  readonly kind: FaultKind;
  /** For `slow` and `late`. */
  readonly afterMs: number;
}

/** A fault that struck. */
export interface StruckFault {
  readonly step: string;
  readonly kind: FaultKind;
}

interface Action {
  readonly faults: readonly PlannedFault[];
  readonly strike: (struck: StruckFault) => void;
  steps: number;
}

/** What became of an action: how it ended, or that its process died first. */
export type Outcome<T> =
  | { readonly kind: 'returned'; readonly value: T }
  | { readonly kind: 'threw'; readonly error: unknown }
  | { readonly kind: 'killed' };

/**
 * A process as its ports see it: every call that leaves it is a step, and fails as planned for the action that it belongs
 * to. Once it is killed no step answers any more, so nothing that runs in it goes on.
 */
export class FaultyProcess {
  readonly #actions = new AsyncLocalStorage<Action>();
  readonly #died = Promise.withResolvers<void>();
  readonly #late = new Set<Promise<unknown>>();
  #dead = false;

  /** `outage` is what a call throws whose far side is away. */
  constructor(private readonly outage: () => Error) {}

  get dead(): boolean {
    return this.#dead;
  }

  /** Runs `work` with these faults in its steps, also in those that go on behind its end. */
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

  /** One call that leaves the process. */
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

  /** Waits for what was still on its way to the far side. */
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

  /** A process that dies leaves this on its way. */
  #tracked<T>(work: Promise<T>): Promise<T> {
    this.#later(work);
    return work;
  }

  #later(work: Promise<unknown>): void {
    const done: Promise<unknown> = work.catch(() => undefined).finally(() => this.#late.delete(done));
    this.#late.add(done);
  }

  /** What was under way at the far side when the process died is done there, and nobody hears of it. */
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

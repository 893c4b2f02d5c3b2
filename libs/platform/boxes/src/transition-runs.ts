import { Logger } from '@berth/telemetry';

/** Settled: no transition is in progress any more. Otherwise, `error` is why the transition could not continue. */
export type DriveResult = { readonly settled: true } | { readonly settled: false; readonly error: unknown };

/** An agent or a computer as its stream has it; a `live` one has an epoch. */
export interface BoxState {
  readonly status: string;
  readonly epoch?: number;
}

/** The states of boxes, by id. */
export interface BoxStates<State extends BoxState> {
  load(boxId: string): Promise<State>;
  /** The state that this process has in memory, if any. */
  known(boxId: string): State | undefined;
}

interface Run {
  /** The decision that it carries out, see `decisionOf`; while it looks for one, it will find the newest. */
  decision: number;
  /** The run of a later decision. */
  successor?: Promise<DriveResult>;
}

/**
 * Runs the transitions of boxes: for each box one after the other, and one run for all callers. A decision that ends
 * the transition which a run waits for, such as a stop during a start, does not wait for it: it gets a run of its own at
 * once, with which the earlier run ends.
 */
export class TransitionRuns<State extends BoxState> {
  readonly #current = new Map<string, { readonly run: Run; readonly result: Promise<DriveResult> }>();

  constructor(
    private readonly boxes: BoxStates<State>,
    private readonly log: Logger,
  ) {}

  /** Repeats `step` until it returns false, because no transition is in progress, or throws. */
  drive(boxId: string, step: (state: State) => Promise<boolean>): Promise<DriveResult> {
    const current = this.#current.get(boxId);
    if (current !== undefined && decisionOf(this.boxes.known(boxId)) <= current.run.decision)
      return current.result;
    const run: Run = { decision: NEWEST };
    const result = this.#carryOut(boxId, run, step).finally(() => {
      if (this.#current.get(boxId)?.run === run) this.#current.delete(boxId);
    });
    if (current !== undefined) current.run.successor = result;
    this.#current.set(boxId, { run, result });
    return result;
  }

  async #carryOut(boxId: string, run: Run, step: (state: State) => Promise<boolean>): Promise<DriveResult> {
    try {
      for (;;) {
        run.decision = NEWEST;
        const loaded = await this.boxes.load(boxId);
        // A decision of this process may have overtaken the read.
        const state = this.boxes.known(boxId) ?? loaded;
        run.decision = decisionOf(state);
        if (!(await step(state))) return { settled: true };
        if (run.successor !== undefined) return await run.successor;
      }
    } catch (error) {
      if (run.successor !== undefined) return await run.successor;
      // A timer tries again, until the deadline of the state.
      this.log.warn({ boxId, err: error }, 'could not continue a transition');
      return { settled: false, error };
    }
  }
}

const NEWEST = Number.POSITIVE_INFINITY;

/** Later decisions about a box have higher numbers; nothing follows a deletion. */
const decisionOf = (state: BoxState | undefined): number => {
  switch (state?.status) {
    case 'live':
      return state.epoch ?? 0;
    case 'deleting':
    case 'deleted':
      return Number.MAX_SAFE_INTEGER;
    default:
      return 0;
  }
};

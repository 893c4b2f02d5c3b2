import { Logger } from '@berth/telemetry';
import type { AgentCommandHandler } from './agent.command-handler.js';
import type { Agent } from './agent.js';

/** Settled: no transition is in progress any more. Otherwise, `error` is why the transition could not continue. */
export type DriveResult = { readonly settled: true } | { readonly settled: false; readonly error: unknown };

interface Run {
  /** The decision that it carries out, see `decisionOf`; while it looks for one, it will find the newest. */
  decision: number;
  /** The run of a later decision. */
  successor?: Promise<DriveResult>;
}

/**
 * Runs the transitions of agents: for each agent one after the other, and one run for all callers. A decision that ends
 * the transition which a run waits for, such as a stop during a start, does not wait for it: it gets a run of its own at
 * once, with which the earlier run ends.
 */
export class TransitionRuns {
  readonly #current = new Map<string, { readonly run: Run; readonly result: Promise<DriveResult> }>();

  constructor(
    private readonly agents: Pick<AgentCommandHandler, 'load' | 'known'>,
    private readonly log: Logger,
  ) {}

  /** Repeats `step` until it returns false, because no transition is in progress, or throws. */
  drive(agentId: string, step: (agent: Agent) => Promise<boolean>): Promise<DriveResult> {
    const current = this.#current.get(agentId);
    if (current !== undefined && decisionOf(this.agents.known(agentId)) <= current.run.decision)
      return current.result;
    const run: Run = { decision: NEWEST };
    const result = this.#carryOut(agentId, run, step).finally(() => {
      if (this.#current.get(agentId)?.run === run) this.#current.delete(agentId);
    });
    if (current !== undefined) current.run.successor = result;
    this.#current.set(agentId, { run, result });
    return result;
  }

  async #carryOut(agentId: string, run: Run, step: (agent: Agent) => Promise<boolean>): Promise<DriveResult> {
    try {
      for (;;) {
        run.decision = NEWEST;
        const loaded = await this.agents.load(agentId);
        // A decision of this process may have overtaken the read.
        const agent = this.agents.known(agentId) ?? loaded;
        run.decision = decisionOf(agent);
        if (!(await step(agent))) return { settled: true };
        if (run.successor !== undefined) return await run.successor;
      }
    } catch (error) {
      if (run.successor !== undefined) return await run.successor;
      // The reconciler tries again, until the deadline of the state.
      this.log.warn({ agentId, err: error }, 'could not continue a transition');
      return { settled: false, error };
    }
  }
}

const NEWEST = Number.POSITIVE_INFINITY;

/** Later decisions about an agent have higher numbers; nothing follows a deletion. */
const decisionOf = (agent: Agent | undefined): number => {
  switch (agent?.status) {
    case 'live':
      return agent.epoch;
    case 'deleting':
    case 'deleted':
      return Number.MAX_SAFE_INTEGER;
    default:
      return 0;
  }
};

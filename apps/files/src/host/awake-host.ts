import { agentsRequests, type AwakeAgent } from '@berth/contracts/agents';
import { DomainError, isDomainError, stepOf, type CommandEnvelope } from '@berth/kernel';
import { neverReached, type Requester } from '@berth/messaging';
import { pause } from '@berth/persistence';

/** Number of times the agent is woken again when its host rejects the epoch because it has just frozen the agent. */
const MAX_REFUSALS = 5;
/** Bridges a short loss of the host's connection. */
const ASK_AGAIN_MS = 3_000;
const ASK_AGAIN_PAUSE_MS = 250;

/** The agent to use, and the command it is used for. */
export interface AgentTarget extends CommandEnvelope {
  readonly agentId: string;
}

/** Finds the host at which an agent is awake. */
export class AwakeHost {
  constructor(private readonly requester: Requester) {}

  /** Does not wake the agent. Errors: not_found `agent_not_found`. */
  async expectAgent({ accountId, agentId }: AgentTarget): Promise<void> {
    await this.requester.request(agentsRequests.locate, { accountId, agentId });
  }

  /** Errors: those of `agentsRequests.ensureAwake`. */
  wake(agentTarget: AgentTarget, refusedEpoch: number | null): Promise<AwakeAgent> {
    const step = stepOf(agentTarget, `wake:${String(refusedEpoch ?? 'first')}`);
    const request = { ...step, agentId: agentTarget.agentId, kind: 'file', refusedEpoch } as const;
    return this.requester.request(agentsRequests.ensureAwake, request);
  }

  /**
   * Calls `ask` with `awake`. If the host rejects the epoch because the agent has fallen asleep, wakes the agent and
   * calls `ask` again. Rethrows all other errors of `ask`. Errors: unavailable `agent_unavailable`.
   */
  async ask<Answer>(
    agentTarget: AgentTarget,
    awake: AwakeAgent,
    ask: (awake: AwakeAgent) => Promise<Answer>,
  ): Promise<Answer> {
    let present = awake;
    for (let refusals = 0; ; refusals++) {
      try {
        return await untilReached(() => ask(present));
      } catch (error) {
        if (!isNotAwakeThere(error)) throw error;
        if (refusals >= MAX_REFUSALS)
          throw agentUnavailable('The agent keeps falling asleep; try again.', error);
        present = await this.wake(agentTarget, present.epoch).catch(asNotWoken);
      }
    }
  }
}

/** Nothing has been done yet, so the error must not leave that open. */
const asNotWoken = (error: unknown): never => {
  const open = isDomainError(error, 'unavailable') || isDomainError(error, 'timeout');
  throw open ? agentUnavailable('The agent fell asleep and could not be woken; try again.', error) : error;
};

/**
 * Retries `ask` for a short time, only while it is certain that the request was never received. Errors: unavailable
 * `agent_unavailable`.
 */
export const untilReached = async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
  const begun = performance.now();
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!neverReached(error) || !isDomainError(error, 'unavailable')) throw error;
      if (performance.now() - begun > ASK_AGAIN_MS)
        throw agentUnavailable('The agent cannot be reached; nothing was done. Try again.', error);
      await pause(ASK_AGAIN_PAUSE_MS);
    }
  }
};

const NOT_AWAKE_THERE: ReadonlySet<string> = new Set(['stale_epoch', 'agent_not_on_host']);

/** Whether a host rejected the request, before doing anything, because the agent is not awake there at that epoch. */
export const isNotAwakeThere = (error: unknown): error is DomainError =>
  isDomainError(error) && NOT_AWAKE_THERE.has(error.code);

export const agentUnavailable = (message: string, cause: unknown): DomainError =>
  new DomainError('unavailable', 'agent_unavailable', message, {}, { cause });

import { agentsRequests, type LocatedAgent } from '@berth/contracts/agents';
import type { ActivityKind, AwakeAgent } from '@berth/contracts/hosting';
import { computersRequests } from '@berth/contracts/computers';
import { boxOwner } from '@berth/contracts/runtime';
import {
  effectOf,
  isDomainError,
  stepOf,
  withEffect,
  type CommandEnvelope,
  type DomainError,
  type Effect,
} from '@berth/kernel';
import { Requester, type RequestOptions } from '@berth/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { nothingDone, untilReached } from './until-reached.js';

/** Maximum number of consecutive wakes after a rejected epoch; before each, the agent had just fallen asleep. */
const MAX_STALE_EPOCHS = 5;

/** The agent or computer to use, the command it is used for, and what counts as its activity. */
export interface AgentUse {
  readonly envelope: CommandEnvelope;
  /** `agt_…` or `cmp_…`. */
  readonly agentId: string;
  readonly kind: ActivityKind;
  /** See `EnsureAwake.attempt`. */
  readonly attempt?: string;
}

export interface CallOptions {
  /** The first agent to call, if the caller has woken it already. By default the agent is woken first. */
  readonly awake?: AwakeAgent;
  /** Wakes the agent again after its host rejected `staleEpoch`. By default `AgentClient.wake`. */
  readonly wakeAgain?: (staleEpoch: number) => Promise<AwakeAgent>;
  /** Runs one call and its repetitions at the same epoch. By default `untilReached`. */
  readonly repeat?: <Response>(call: () => Promise<Response>) => Promise<Response>;
}

/** Wakes agents and computers and calls their hosts. The only place where a stale epoch leads to another wake. */
@Injectable()
export class AgentClient {
  constructor(@Inject(Requester) private readonly requester: Pick<Requester, 'request'>) {}

  /** Returns where the agent is and what its guest can do; never wakes it. Errors: not_found `agent_not_found`. */
  locate(accountId: string, agentId: string): Promise<LocatedAgent> {
    return this.requester.request(agentsRequests.locate, { accountId, agentId });
  }

  /**
   * Wakes the agent or computer if it sleeps. `staleEpoch`: the epoch that its host rejected. Errors: those of `ensureAwake`
   * of the service that it belongs to.
   */
  wake(use: AgentUse, staleEpoch: number | null = null, options: RequestOptions = {}): Promise<AwakeAgent> {
    if (boxOwner(use.agentId) === 'computers') {
      const { agentId: computerId, kind: _kind, ...request } = wakeRequest(use, staleEpoch);
      return this.requester.request(computersRequests.ensureAwake, { ...request, computerId }, options);
    }
    return this.requester.request(agentsRequests.ensureAwake, wakeRequest(use, staleEpoch), options);
  }

  /** Returns the agent if it is awake, null if it sleeps; never wakes it. Errors: those of `ensureAwake`. */
  async findAwake(use: AgentUse, deadlineMs: number): Promise<AwakeAgent | null> {
    const request = { ...wakeRequest(use, null), asleep: 'refuse' } as const;
    try {
      return await this.requester.request(agentsRequests.ensureAwake, request, { deadlineMs });
    } catch (error) {
      if (isDomainError(error, 'conflict') && error.code === 'agent_asleep') return null;
      throw error;
    }
  }

  /**
   * Wakes the agent and calls its host with the current epoch. If the host rejects the epoch because the agent has
   * fallen asleep in the meantime, wakes the agent and calls again. Rethrows other errors of `call`, with an `effect`
   * that covers all calls. Errors: those of `wake`, and `nothingDone`.
   */
  async withAwakeAgent<Response>(
    use: AgentUse,
    call: (agent: AwakeAgent) => Promise<Response>,
    options: CallOptions = {},
  ): Promise<Response> {
    const { agentId } = use;
    const {
      wakeAgain = (staleEpoch) => this.wake(use, staleEpoch),
      repeat = (attempt) => untilReached(agentId, attempt),
    } = options;
    let agent = options.awake ?? (await this.wake(use));
    let effect: Effect = 'none';
    for (let stale = 0; ; stale++) {
      const current = agent;
      try {
        return await repeat(() =>
          call(current).catch((error: unknown) => {
            if (effectOf(error) === 'unknown') effect = 'unknown';
            throw error;
          }),
        );
      } catch (error) {
        if (!isStaleEpoch(error)) throw withEffect(error, effect);
        if (stale >= MAX_STALE_EPOCHS)
          throw withEffect(nothingDone(agentId, 'keeps falling asleep; try again.', error), effect);
      }
      agent = await wakeAgain(current.epoch).catch((error: unknown) => {
        throw withEffect(notWokenAgain(agentId, error), effect);
      });
    }
  }
}

/** The service recognises the step of a repeated command, and wakes the agent again if it has fallen asleep since. */
const wakeRequest = ({ envelope, agentId, kind, attempt }: AgentUse, staleEpoch: number | null) => ({
  ...stepOf(envelope, `wake:${String(staleEpoch ?? 'first')}`),
  agentId,
  kind,
  refusedEpoch: staleEpoch,
  ...(attempt === undefined ? {} : { attempt }),
});

const STALE: ReadonlySet<string> = new Set(['stale_epoch', 'agent_not_on_host']);

/** Whether a host rejected the request, before doing anything, because the agent is not awake there at that epoch. */
export const isStaleEpoch = (error: unknown): error is DomainError =>
  isDomainError(error) && STALE.has(error.code);

const notWokenAgain = (boxId: string, error: unknown): unknown => {
  const isOutage = isDomainError(error, 'unavailable') || isDomainError(error, 'timeout');
  return isOutage ? nothingDone(boxId, 'fell asleep and could not be woken; try again.', error) : error;
};

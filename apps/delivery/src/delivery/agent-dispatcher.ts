import { AgentClient, type AgentUse } from '@berth/agent-client';
import type { AwakeAgent } from '@berth/contracts/hosting';
import { llmRequests } from '@berth/contracts/llm';
import { runtimeRequests, type DeliverMessage } from '@berth/contracts/runtime';
import { effectOf, isDomainError, isoTime, type DomainError } from '@berth/kernel';
import { FIRST_SIGN_MS, Requester } from '@berth/messaging';
import { pause } from '@berth/supervision';
import { Inject, Injectable } from '@nestjs/common';
import { SharedTimeout } from './shared-timeout.js';
import { recordedFailure } from './delivery-failure.js';
import { toCallerError } from './sending.js';

const RETRY_PAUSE_MS = 250;

export interface Message {
  readonly deliveryId: string;
  readonly agentId: string;
  readonly conversationId: string;
  readonly message: string;
  /** Files in the agent's inbox that came with it. */
  readonly attachments?: DeliverMessage['attachments'];
  readonly source?: DeliverMessage['source'];
  readonly contentType?: DeliverMessage['contentType'];
}

/** Delivers a message to an awake agent and returns the agent's response. */
@Injectable()
export class AgentDispatcher {
  constructor(
    private readonly agents: AgentClient,
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
  ) {}

  /** Returns the agent if it is awake, null if it sleeps. Errors: those of `agentsRequests.ensureAwake`. */
  findAwake(use: AgentUse, timeout: SharedTimeout): Promise<AwakeAgent | null> {
    // The request itself gets more time, so that only the shared timeout determines the error.
    return timeout.within(this.agents.findAwake(use, timeout.leftMs + RETRY_PAUSE_MS));
  }

  /** Only time in which `agents` sends no heartbeat counts toward the timeout. Errors: those of `agentsRequests.ensureAwake`. */
  wake(use: AgentUse, staleEpoch: number | null, timeout: SharedTimeout): Promise<AwakeAgent> {
    return this.agents.wake(use, staleEpoch, { silence: timeout });
  }

  /**
   * Errors: upstream `agent_error`, timeout `agent_timeout`, unavailable `agent_unavailable`, unsupported
   * `chat_unsupported`, those of `wake`, and for chats the code with which the LLM route refused a call of the agent
   * in the meantime, if its program failed. The effect `unknown` means that the agent may have the message.
   */
  async deliver(message: Message, awake: AwakeAgent, use: AgentUse, timeout: SharedTimeout): Promise<string> {
    const since = isoTime(Date.now());
    const send = async ({ host, epoch }: AwakeAgent): Promise<string> => {
      const request = { ...message, epoch };
      const options = { host, silence: timeout };
      return (await this.requester.request(runtimeRequests.deliver, request, options)).response;
    };
    try {
      return await this.agents.withAwakeAgent(use, send, {
        awake,
        wakeAgain: (staleEpoch) => this.wake(use, staleEpoch, timeout),
        repeat: (call) => whileTimeIsLeft(timeout, call),
      });
    } catch (error) {
      const reported = toCallerError(error);
      if (use.kind !== 'chat' || !isDomainError(reported) || reported.code !== 'agent_error') throw reported;
      throw (await this.refusedCall(message.agentId, since)) ?? reported;
    }
  }

  /** A program whose model is refused fails; its caller needs to know why. */
  private async refusedCall(agentId: string, since: string): Promise<DomainError | undefined> {
    const found = await this.requester
      .request(llmRequests.refusal, { agentId, since })
      .catch(() => ({ code: null }));
    return found.code === null ? undefined : recordedFailure(found.code);
  }
}

/**
 * Repeats `call` while its host cannot be reached and time is left. The guest recognises a delivery by its id, so a
 * repetition delivers nothing twice.
 */
const whileTimeIsLeft = async <Response>(
  timeout: SharedTimeout,
  call: () => Promise<Response>,
): Promise<Response> => {
  for (;;) {
    const startedAt = performance.now();
    const leftMs = timeout.leftMs;
    try {
      return await call();
    } catch (error) {
      if (!isDomainError(error, 'unavailable') || error.code !== 'service_unavailable') throw error;
      // Silence was counted during the call; a host that responds with this error has taken time as well.
      if (timeout.leftMs === leftMs) timeout.spend(Math.min(performance.now() - startedAt, leftMs));
      const nextMs = effectOf(error) === 'none' ? RETRY_PAUSE_MS : FIRST_SIGN_MS;
      if (timeout.leftMs < RETRY_PAUSE_MS + nextMs) throw error;
      await timeout.within(pause(RETRY_PAUSE_MS));
    }
  }
};

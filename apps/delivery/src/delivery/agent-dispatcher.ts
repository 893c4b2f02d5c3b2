import { AgentClient, type AgentUse } from '@berth/agent-client';
import type { AwakeAgent } from '@berth/contracts/agents';
import { runtimeRequests, type DeliverMessage } from '@berth/contracts/runtime';
import { effectOf, isDomainError } from '@berth/kernel';
import { FIRST_SIGN_MS, Requester } from '@berth/messaging';
import { pause } from '@berth/supervision';
import { Inject, Injectable } from '@nestjs/common';
import { Patience } from './patience.js';
import { toCallersWords } from './sending.js';

const ASK_AGAIN_PAUSE_MS = 250;

export interface Message {
  readonly deliveryId: string;
  readonly agentId: string;
  readonly conversationId: string;
  readonly message: string;
  /** Files in the agent's inbox that came with it. */
  readonly attachments?: DeliverMessage['attachments'];
}

/** Delivers a message to an awake agent and returns the agent's response. */
@Injectable()
export class AgentDispatcher {
  constructor(
    private readonly agents: AgentClient,
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
  ) {}

  /** The agent if it is awake, null if it sleeps. Errors: those of `agentsRequests.ensureAwake`. */
  findAwake(use: AgentUse, patience: Patience): Promise<AwakeAgent | null> {
    // Beyond the patience, so that only one of the two determines the error.
    return patience.within(this.agents.findAwake(use, patience.leftMs + ASK_AGAIN_PAUSE_MS));
  }

  /** Spends patience only while `agents` gives no sign of life. Errors: those of `agentsRequests.ensureAwake`. */
  wake(use: AgentUse, staleEpoch: number | null, patience: Patience): Promise<AwakeAgent> {
    return this.agents.wake(use, staleEpoch, { silence: patience });
  }

  /**
   * Errors: upstream `agent_error`, timeout `agent_timeout`, unavailable `agent_unavailable`, unsupported
   * `chat_unsupported`, and those of `wake`. The effect `unknown` means that the agent may have the message.
   */
  async deliver(message: Message, awake: AwakeAgent, use: AgentUse, patience: Patience): Promise<string> {
    const send = async ({ host, epoch }: AwakeAgent): Promise<string> => {
      const request = { ...message, epoch };
      const options = { host, silence: patience };
      return (await this.requester.request(runtimeRequests.deliver, request, options)).response;
    };
    try {
      return await this.agents.withAwakeAgent(use, send, {
        awake,
        wakeAgain: (staleEpoch) => this.wake(use, staleEpoch, patience),
        repeat: (call) => whilePatient(patience, call),
      });
    } catch (error) {
      throw toCallersWords(error);
    }
  }
}

/**
 * Repeats `call` while its host cannot be reached and patience is left. The guest recognises a delivery by its id, so that a
 * repetition delivers nothing twice.
 */
const whilePatient = async <Response>(
  patience: Patience,
  call: () => Promise<Response>,
): Promise<Response> => {
  for (;;) {
    const startedAt = performance.now();
    const leftMs = patience.leftMs;
    try {
      return await call();
    } catch (error) {
      if (!isDomainError(error, 'unavailable') || error.code !== 'service_unavailable') throw error;
      // A host that responds with this error has cost time too.
      if (patience.leftMs === leftMs) patience.spend(Math.min(performance.now() - startedAt, leftMs));
      const nextMs = effectOf(error) === 'none' ? ASK_AGAIN_PAUSE_MS : FIRST_SIGN_MS;
      if (patience.leftMs < ASK_AGAIN_PAUSE_MS + nextMs) throw error;
      await patience.within(pause(ASK_AGAIN_PAUSE_MS));
    }
  }
};

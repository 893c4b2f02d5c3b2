import { agentsRequests, type ActivityKind, type AwakeAgent } from '@berth/contracts-agents';
import { runtimeRequests, type DeliverMessage } from '@berth/contracts-runtime';
import { DomainError, isDomainError, newId, type CommandEnvelope } from '@berth/kernel';
import type { Requester } from '@berth/messaging';

/** A host that froze the agent a moment ago refuses the epoch; so often the agent is woken again. */
const MAX_REFUSALS = 5;
/** The host's link may blink: the guest knows a delivery by its id, so asking again is safe. */
const ASK_AGAIN_MS = 3_000;
const ASK_AGAIN_PAUSE_MS = 250;

export interface Message {
  readonly deliveryId: string;
  readonly agentId: string;
  readonly conversationId: string;
  readonly message: string;
  /** Files in the agent's inbox that came with it. */
  readonly attachments?: DeliverMessage['attachments'];
}

/** Brings a message to an awake agent and its answer back. */
export class HandOver {
  constructor(private readonly requester: Requester) {}

  /** Errors: those of `agentsRequests.ensureAwake`. */
  wake(
    envelope: CommandEnvelope,
    agentId: string,
    kind: ActivityKind,
    refusedEpoch: number | null,
  ): Promise<AwakeAgent> {
    const { accountId, actor } = envelope;
    const request = { commandId: newId('cmd'), accountId, actor, agentId, kind, refusedEpoch };
    return this.requester.request(agentsRequests.ensureAwake, request);
  }

  /** Errors: upstream `agent_error`, timeout `agent_timeout`, unavailable `agent_unavailable`, unsupported `chat_unsupported`. */
  async deliver(
    message: Message,
    agent: AwakeAgent,
    envelope: CommandEnvelope,
    kind: ActivityKind,
  ): Promise<string> {
    let awake = agent;
    for (let refusals = 0; refusals < MAX_REFUSALS; refusals++) {
      try {
        return await this.askUntilReached(message, awake);
      } catch (error) {
        if (!isDomainError(error) || !NOT_AWAKE_THERE.has(error.code)) throw toCallersWords(error);
        awake = await this.wake(envelope, message.agentId, kind, awake.epoch);
      }
    }
    throw new DomainError('unavailable', 'agent_unavailable', 'The agent keeps falling asleep; try again.');
  }

  private async askUntilReached(message: Message, { host, epoch }: AwakeAgent): Promise<string> {
    const begun = Date.now();
    for (;;) {
      try {
        const { response } = await this.requester.request(
          runtimeRequests.deliver,
          { ...message, epoch },
          { host },
        );
        return response;
      } catch (error) {
        const unreached = isDomainError(error, 'unavailable') && error.code === 'service_unavailable';
        if (!unreached || Date.now() - begun > ASK_AGAIN_MS) throw error;
        await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_PAUSE_MS));
      }
    }
  }
}

const NOT_AWAKE_THERE: ReadonlySet<string> = new Set(['stale_epoch', 'agent_not_on_host']);

const toCallersWords = (error: unknown): unknown => {
  if (isDomainError(error, 'timeout')) {
    return new DomainError(
      'timeout',
      'agent_timeout',
      'The agent did not answer in time.',
      {},
      { cause: error },
    );
  }
  if (isDomainError(error, 'unavailable')) {
    return new DomainError(
      'unavailable',
      'agent_unavailable',
      'The agent cannot be reached; try again.',
      {},
      { cause: error },
    );
  }
  return error;
};

import { agentsRequests, type ActivityKind, type AwakeAgent } from '@berth/contracts/agents';
import { runtimeRequests, type DeliverMessage } from '@berth/contracts/runtime';
import { DomainError, isDomainError, stepOf, type CommandEnvelope } from '@berth/kernel';
import { FIRST_SIGN_MS, neverReached, Requester } from '@berth/messaging';
import { pause } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { Patience } from './patience.js';
import { isElsewhere, judgeSending, toCallersWords } from './sending.js';

/** A host that froze the agent a moment ago refuses the epoch; so often the agent is woken again. */
const MAX_REFUSALS = 5;
const ASK_AGAIN_PAUSE_MS = 250;

export interface Message {
  readonly deliveryId: string;
  readonly agentId: string;
  readonly conversationId: string;
  readonly message: string;
  /** Files in the agent's inbox that came with it. */
  readonly attachments?: DeliverMessage['attachments'];
}

/** On whose behalf an agent is woken, and for what. */
export interface Purpose {
  readonly envelope: CommandEnvelope;
  readonly agentId: string;
  readonly kind: ActivityKind;
}

/** Brings a message to an awake agent and its answer back. */
@Injectable()
export class AgentDispatcher {
  constructor(@Inject(Requester) private readonly requester: Pick<Requester, 'request'>) {}

  /** The agent if it is awake, null if it sleeps. Errors: those of `agentsRequests.ensureAwake`. */
  async findAwake(purpose: Purpose, patience: Patience): Promise<AwakeAgent | null> {
    // Beyond the patience, so that one of the two says what the caller is told.
    const deadlineMs = patience.leftMs + ASK_AGAIN_PAUSE_MS;
    const request = { ...wish(purpose, null), asleep: 'refuse' } as const;
    try {
      return await patience.within(
        this.requester.request(agentsRequests.ensureAwake, request, { deadlineMs }),
      );
    } catch (error) {
      if (isDomainError(error, 'conflict') && error.code === 'agent_asleep') return null;
      throw error;
    }
  }

  /** Spends patience only while `agents` gives no sign of life. Errors: those of `agentsRequests.ensureAwake`. */
  wake(purpose: Purpose, refusedEpoch: number | null, patience: Patience): Promise<AwakeAgent> {
    const request = wish(purpose, refusedEpoch);
    return this.requester.request(agentsRequests.ensureAwake, request, { silence: patience });
  }

  /**
   * Errors: upstream `agent_error`, timeout `agent_timeout`, unavailable `agent_unavailable`, unsupported
   * `chat_unsupported`, and those of `wake`. Context `mayHaveBeenDone`: the agent may have the message.
   */
  async deliver(message: Message, agent: AwakeAgent, purpose: Purpose, patience: Patience): Promise<string> {
    const sending = new Sending(this.requester, message, patience);
    let awake = agent;
    for (let refusals = 0; refusals < MAX_REFUSALS; refusals++) {
      try {
        return await sending.send(awake);
      } catch (error) {
        if (!isElsewhere(error)) throw toCallersWords(error, sending.mayBeThere);
      }
      awake = await this.wake(purpose, awake.epoch, patience).catch((error: unknown) => {
        throw sending.mayBeThere ? toCallersWords(error, true) : error;
      });
    }
    const tired = new DomainError(
      'unavailable',
      'agent_unavailable',
      'The agent keeps falling asleep; try again.',
    );
    throw toCallersWords(tired, sending.mayBeThere);
  }
}

/** `agents` recognises the step of a repeated command, and wakes the agent again if it has fallen asleep since. */
const wish = ({ envelope, agentId, kind }: Purpose, refusedEpoch: number | null) => ({
  ...stepOf(envelope, `wake:${String(refusedEpoch ?? 'first')}`),
  agentId,
  kind,
  refusedEpoch,
});

/** One message on its way. The guest knows a delivery by its id, so asking again is safe. */
class Sending {
  #mayBeThere = false;

  constructor(
    private readonly requester: Pick<Requester, 'request'>,
    private readonly message: Message,
    private readonly patience: Patience,
  ) {}

  /** Whether the agent may have the message, as far as is known here. */
  get mayBeThere(): boolean {
    return this.#mayBeThere;
  }

  /** Sends it to one epoch, again while its host cannot be reached and there is patience left. */
  async send({ host, epoch }: AwakeAgent): Promise<string> {
    for (;;) {
      const begun = performance.now();
      const { patience: silence } = this;
      const leftMs = silence.leftMs;
      try {
        const request = { ...this.message, epoch };
        return (await this.requester.request(runtimeRequests.deliver, request, { host, silence })).response;
      } catch (error) {
        if (judgeSending(error) === 'maybe') this.#mayBeThere = true;
        if (!isDomainError(error, 'unavailable') || error.code !== 'service_unavailable') throw error;
        // A host that responds with this error has cost time too.
        if (silence.leftMs === leftMs) silence.spend(Math.min(performance.now() - begun, leftMs));
        const nextMs = neverReached(error) ? ASK_AGAIN_PAUSE_MS : FIRST_SIGN_MS;
        if (this.patience.leftMs < ASK_AGAIN_PAUSE_MS + nextMs) throw error;
        await this.patience.within(pause(ASK_AGAIN_PAUSE_MS));
      }
    }
  }
}

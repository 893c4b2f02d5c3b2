import { setTimeout as sleep } from 'node:timers/promises';
import type { TellAttachment } from '@berth/contracts-delivery';
import { deriveId, newId } from '@berth/kernel';
import type { Logger } from '@berth/telemetry';
import type { ConversationListQuery } from '../conversation-list/conversation-list.query.js';
import type { DeliveryCommandHandler } from './delivery.command-handler.js';
import type { HandOver, Message } from './hand-over.js';
import type { MessageBudget } from './message-budget.js';

/** A file that came: its sender is answered once the message is accepted, the agent is told behind the answer. */
export class AttachmentCommandHandler {
  readonly #inFlight = new Set<Promise<void>>();

  constructor(
    private readonly deliveries: DeliveryCommandHandler,
    private readonly conversations: ConversationListQuery,
    private readonly handOver: HandOver,
    private readonly budget: MessageBudget,
    private readonly log: Logger,
  ) {}

  /** The same command tells once. Errors: see `deliveryRequests.tellAttachment`. */
  async handle(request: TellAttachment): Promise<{ readonly deliveryId: string }> {
    const { agentId, attachment } = request;
    const deliveryId = deriveId('dlv', request.commandId);
    const message = textOf(request);
    const current = await this.conversations.current(agentId);
    const conversationId = current ?? newId('cnv');
    const told = { deliveryId, agentId, conversationId, message };
    const { shown, repeated } = await this.deliveries.accept(request, { ...told, kind: 'attachment' });
    if (repeated) return { deliveryId };
    const work = this.#tell(request, { ...told, attachments: [attachment] }).finally(() =>
      this.#inFlight.delete(work),
    );
    this.#inFlight.add(work);
    // What is said next without a conversation goes on in the one that this message opened.
    if (current === null) await shown;
    return { deliveryId };
  }

  /** Waits for what is being told, so long at most. */
  async settle(withinMs: number): Promise<void> {
    const ending = new AbortController();
    const late = sleep(withinMs, undefined, { signal: ending.signal }).catch(() => undefined);
    await Promise.race([Promise.all(this.#inFlight), late]);
    ending.abort();
    if (this.#inFlight.size > 0)
      this.log.warn({ running: this.#inFlight.size }, 'stopping before agents were told of their files');
  }

  async #tell(request: TellAttachment, message: Message): Promise<void> {
    const { deliveryId, agentId } = message;
    try {
      const response = await this.#handOver(request, message);
      await this.deliveries.answered(request, deliveryId, response);
    } catch (error) {
      this.log.info({ deliveryId, agentId, err: error }, 'an agent could not be told of a file');
      await this.deliveries
        .failed(request, deliveryId, error)
        // Nobody is left to tell; such deliveries are ended as lost.
        .catch((failure: unknown) => this.log.warn({ deliveryId, err: failure }, 'an outcome was not kept'));
    }
  }

  async #handOver(request: TellAttachment, message: Message): Promise<string> {
    const agent = await this.handOver.wake(request, message.agentId, 'file', null);
    await this.budget.take(message.agentId);
    return this.handOver.deliver(message, agent, request, 'file');
  }
}

const textOf = ({ message, attachment: { path } }: TellAttachment): string =>
  message === null || message === '' ? `A file was uploaded for you: ${path}` : message;

import { setTimeout as sleep } from 'node:timers/promises';
import type { TellAttachment } from '@berth/contracts/delivery';
import { deriveId } from '@berth/kernel';
import type { Logger } from '@berth/telemetry';
import type { DeliveryCommandHandler } from './delivery.command-handler.js';
import type { AgentDispatcher, Message, Purpose } from './agent-dispatcher.js';
import type { MessageAdmission } from './message-admission.js';
import type { OutcomeNotes } from './outcome-notes.js';
import { Patience } from './patience.js';

/** Nobody waits for the end: parts that are away for a moment are waited for. */
const WITHIN_MS = 10_000;

/** A file that came: its sender is answered once the message is accepted, the agent is told behind the answer. */
export class AttachmentCommandHandler {
  readonly #inFlight = new Map<string, Promise<void>>();

  constructor(
    private readonly deliveries: DeliveryCommandHandler,
    private readonly admission: MessageAdmission,
    private readonly dispatcher: AgentDispatcher,
    private readonly notes: OutcomeNotes,
    private readonly log: Logger,
  ) {}

  /**
   * The same command tells once. One whose earlier try accepted the message and ended then, tells it now. Errors: see
   * `deliveryRequests.tellAttachment`.
   */
  async handle(request: TellAttachment): Promise<{ readonly deliveryId: string }> {
    const { agentId, attachment } = request;
    const purpose: Purpose = { envelope: request, agentId, kind: 'file' };
    const deliveryId = deriveId('dlv', request.commandId);
    const message = textOf(request);
    const conversationId = await this.admission.conversationOf(purpose);
    const told = { deliveryId, agentId, conversationId, message };
    const { delivery, shown } = await this.deliveries.accept(request, { ...told, kind: 'attachment' });
    if (delivery.status !== 'accepted') return { deliveryId };
    this.#begin(purpose, { ...told, conversationId: delivery.conversationId, attachments: [attachment] });
    // What is said next without a conversation goes on in the one that this message opened.
    if (conversationId === deriveId('cnv', request.commandId)) await shown;
    return { deliveryId };
  }

  /** Waits for what is being told, so long at most. */
  async settle(withinMs: number): Promise<void> {
    const ending = new AbortController();
    const late = sleep(withinMs, undefined, { signal: ending.signal }).catch(() => undefined);
    await Promise.race([Promise.all(this.#inFlight.values()), late]);
    ending.abort();
    if (this.#inFlight.size > 0)
      this.log.warn({ running: this.#inFlight.size }, 'stopping before agents were told of their files');
  }

  #begin(purpose: Purpose, message: Message): void {
    const { deliveryId } = message;
    if (this.#inFlight.has(deliveryId)) return;
    const work = this.#tell(purpose, message).finally(() => this.#inFlight.delete(deliveryId));
    this.#inFlight.set(deliveryId, work);
  }

  async #tell(purpose: Purpose, message: Message): Promise<void> {
    const { envelope } = purpose;
    const { deliveryId, agentId } = message;
    const patience = new Patience(WITHIN_MS);
    try {
      const awake = await this.admission.wakeWithinBudget(purpose, deliveryId, patience);
      const response = await this.dispatcher.deliver(message, awake, purpose, patience);
      this.notes.answered(envelope, deliveryId, response);
    } catch (error) {
      this.log.info({ deliveryId, agentId, err: error }, 'an agent could not be told of a file');
      this.notes.failed(envelope, deliveryId, error);
    }
  }
}

const textOf = ({ message, attachment: { path } }: TellAttachment): string =>
  message === null || message === '' ? `A file was uploaded for you: ${path}` : message;

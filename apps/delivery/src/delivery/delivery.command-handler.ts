import type { CommandHandler, ProjectionRunner } from '@berth/event-store';
import { isDomainError, type CommandEnvelope } from '@berth/kernel';
import type { DeliveryCommand } from './delivery.decider.js';
import type { Delivery, DeliveryEvent, DeliveryKind } from './delivery.js';

export interface AcceptedMessage {
  readonly deliveryId: string;
  readonly agentId: string;
  readonly conversationId: string;
  readonly kind: DeliveryKind;
  readonly message: string;
}

/** Writes down what happens to messages, without their text. */
export class DeliveryCommandHandler {
  constructor(
    private readonly deliveries: CommandHandler<Delivery, DeliveryCommand, DeliveryEvent>,
    private readonly conversationList: ProjectionRunner,
  ) {}

  /**
   * `shown` resolves once the list shows the message; the agent need not wait for that. `repeated`: the same command had
   * it accepted before.
   */
  async accept(
    envelope: CommandEnvelope,
    { message, ...accepted }: AcceptedMessage,
  ): Promise<{ readonly shown: Promise<boolean>; readonly repeated: boolean }> {
    const command = { type: 'Accept', ...accepted, messageLength: message.length, at: now() } as const;
    const { position, replayed } = await this.deliveries.handle(accepted.deliveryId, command, envelope, {
      expectNew: true,
    });
    const shown = position === null ? Promise.resolve(true) : this.conversationList.waitFor(position);
    // Past two seconds the caller is answered anyway, and so when the tables are away.
    return { shown: shown.catch(() => false), repeated: replayed };
  }

  async answered(envelope: CommandEnvelope, deliveryId: string, response: string): Promise<void> {
    await this.end(envelope, deliveryId, { type: 'Answer', responseLength: response.length, at: now() });
  }

  async failed(envelope: CommandEnvelope, deliveryId: string, error: unknown): Promise<void> {
    const code = isDomainError(error) ? error.code : 'internal_error';
    await this.end(envelope, deliveryId, { type: 'Fail', code, at: now() });
  }

  private async end(envelope: CommandEnvelope, deliveryId: string, command: DeliveryCommand): Promise<void> {
    const commandId = `${envelope.commandId}/end`;
    await this.deliveries.handle(deliveryId, command, { ...envelope, commandId });
  }
}

const now = (): string => new Date().toISOString();

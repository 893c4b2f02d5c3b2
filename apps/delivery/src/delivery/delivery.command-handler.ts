import type { ProjectionRunner } from '@berth/event-store';
import type { CommandEnvelope } from '@berth/kernel';
import { InjectProjection } from '@berth/service';
import { Injectable } from '@nestjs/common';
import { conversationListProjection } from '../conversation-list/conversation-list.projection.js';
import type { Delivery, DeliveryKind } from './delivery.js';
import { DeliveryStreams } from './delivery.streams.js';

export interface AcceptedMessage {
  readonly deliveryId: string;
  readonly agentId: string;
  readonly conversationId: string;
  readonly kind: DeliveryKind;
  readonly message: string;
}

/** The state of a message after an attempt to accept it. */
export interface Acceptance {
  /** As in the log: an earlier attempt of the command may have advanced it, in another conversation. */
  readonly delivery: Exclude<Delivery, { readonly status: 'absent' }>;
  /** Whether an earlier attempt of the command was accepted. */
  readonly repeated: boolean;
  /** Resolves once the list shows the message; the agent need not wait for that. */
  readonly shown: Promise<boolean>;
}

/** Records in the log what happens to messages, without their text. */
@Injectable()
export class DeliveryCommandHandler {
  constructor(
    private readonly deliveries: DeliveryStreams,
    @InjectProjection(conversationListProjection)
    private readonly conversationList: Pick<ProjectionRunner, 'waitFor'>,
  ) {}

  async load(deliveryId: string): Promise<Delivery> {
    return (await this.deliveries.load(deliveryId)).state;
  }

  async accept(envelope: CommandEnvelope, { message, ...accepted }: AcceptedMessage): Promise<Acceptance> {
    const command = { type: 'Accept', ...accepted, messageLength: message.length, at: now() } as const;
    const { position, replayed, state } = await this.deliveries.handle(
      accepted.deliveryId,
      command,
      envelope,
      { expectNew: true },
    );
    if (state.status === 'absent') throw new Error('A message was accepted and is absent.');
    const shown = position === null ? Promise.resolve(true) : this.conversationList.waitFor(position);
    // After two seconds the caller gets the response anyway, even while the tables are unavailable.
    return { delivery: state, repeated: replayed, shown: shown.catch(() => false) };
  }

  /** Refuses all further attempts of this command, unless one was accepted; returns the state. */
  async refuse(
    envelope: CommandEnvelope,
    refused: { readonly deliveryId: string; readonly agentId: string; readonly code: string },
  ): Promise<Delivery> {
    const command = { type: 'Refuse', ...refused, at: now() } as const;
    return (await this.deliveries.handle(refused.deliveryId, command, step(envelope, 'refuse'))).state;
  }

  async answered(envelope: CommandEnvelope, deliveryId: string, responseLength: number): Promise<void> {
    const command = { type: 'Answer', responseLength, at: now() } as const;
    await this.deliveries.handle(deliveryId, command, step(envelope, 'answered'));
  }

  async failed(envelope: CommandEnvelope, deliveryId: string, code: string): Promise<void> {
    await this.deliveries.handle(
      deliveryId,
      { type: 'Fail', code, at: now() },
      step(envelope, `failed:${code}`),
    );
  }
}

/** Each step of a command is a separate command on the stream of the message. */
const step = (envelope: CommandEnvelope, name: string): CommandEnvelope => ({
  ...envelope,
  commandId: `${envelope.commandId}/${name}`,
});

const now = (): string => new Date().toISOString();

import type { Decider } from '@berth/kernel';
import { evolve, type Delivery, type DeliveryEvent, type DeliveryKind } from './delivery.js';

export type DeliveryCommand =
  | {
      readonly type: 'Accept';
      readonly deliveryId: string;
      readonly agentId: string;
      readonly conversationId: string;
      readonly kind: DeliveryKind;
      readonly messageLength: number;
      readonly at: string;
    }
  | { readonly type: 'Answer'; readonly responseLength: number; readonly at: string }
  | { readonly type: 'Fail'; readonly code: string; readonly at: string };

const decide = (command: DeliveryCommand, delivery: Delivery): readonly DeliveryEvent[] => {
  if (command.type === 'Accept') {
    const { type: _, ...data } = command;
    return delivery.status === 'absent' ? [{ type: 'MessageAccepted', data }] : [];
  }
  // The first outcome stands: an answer that comes after the delivery was given up changes nothing.
  if (delivery.status !== 'accepted') return [];
  const { deliveryId, agentId } = delivery;
  return command.type === 'Answer'
    ? [
        {
          type: 'MessageAnswered',
          data: { deliveryId, agentId, responseLength: command.responseLength, at: command.at },
        },
      ]
    : [{ type: 'MessageFailed', data: { deliveryId, agentId, code: command.code, at: command.at } }];
};

/** One message's way: accepted once, ended once. */
export const deliveryDecider: Decider<Delivery, DeliveryCommand, DeliveryEvent> = {
  initial: { status: 'absent' },
  decide,
  evolve,
};

import { saysHandedOver } from '@berth/contracts/delivery';
import type { Decider } from '@berth/kernel';
import { isOpenFailure } from './delivery-failure.js';
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
  | {
      readonly type: 'Refuse';
      readonly deliveryId: string;
      readonly agentId: string;
      readonly code: string;
      readonly at: string;
    }
  | { readonly type: 'Answer'; readonly responseLength: number; readonly at: string }
  | { readonly type: 'Fail'; readonly code: string; readonly at: string };

const decide = (command: DeliveryCommand, delivery: Delivery): readonly DeliveryEvent[] => {
  if (command.type === 'Accept') {
    const { type: _, ...data } = command;
    return delivery.status === 'absent' ? [{ type: 'MessageAccepted', data }] : [];
  }
  if (command.type === 'Refuse') {
    const { type: _, ...data } = command;
    return delivery.status === 'absent' ? [{ type: 'MessageRefused', data }] : [];
  }
  if (delivery.status !== 'accepted' && delivery.status !== 'failed') return [];
  const { deliveryId, agentId } = delivery;
  const { at } = command;
  // A report of the agent is a fact. Another failure may be an assumption: a later attempt may reach the agent.
  if (command.type === 'Answer') {
    const { responseLength } = command;
    return [{ type: 'MessageAnswered', data: { deliveryId, agentId, responseLength, at } }];
  }
  if (delivery.status === 'failed' && !saysMore(command.code, delivery.code)) return [];
  return [{ type: 'MessageFailed', data: { deliveryId, agentId, code: command.code, at } }];
};

/** Whether a failure says more about the message than the one before it. */
const saysMore = (code: string, before: string): boolean =>
  isOpenFailure(before) && (!isOpenFailure(code) || (saysHandedOver(code) && !saysHandedOver(before)));

/** The life cycle of one message: accepted or refused once, answered at most once. */
export const deliveryDecider: Decider<Delivery, DeliveryCommand, DeliveryEvent> = {
  initial: { status: 'absent' },
  decide,
  evolve,
};

/** Where a message comes from. All kinds share one path to the agent. */
export type DeliveryKind = 'chat' | 'webhook' | 'attachment' | 'schedule';

/** The events of one message. The log never contains its text, only sizes in characters. Times are ISO 8601. */
export type DeliveryEvent =
  | {
      readonly type: 'MessageAccepted';
      readonly data: {
        readonly deliveryId: string;
        readonly agentId: string;
        readonly conversationId: string;
        readonly kind: DeliveryKind;
        readonly messageLength: number;
        readonly at: string;
      };
    }
  | {
      readonly type: 'MessageAnswered';
      readonly data: {
        readonly deliveryId: string;
        readonly agentId: string;
        readonly responseLength: number;
        readonly at: string;
      };
    }
  | {
      readonly type: 'MessageFailed' | 'MessageRefused';
      readonly data: {
        readonly deliveryId: string;
        readonly agentId: string;
        readonly code: string;
        readonly at: string;
      };
    };

/** A message that was accepted, with any outcome. */
export interface Accepted {
  readonly deliveryId: string;
  readonly agentId: string;
  readonly conversationId: string;
  readonly acceptedAt: string;
}

export type Delivery =
  | { readonly status: 'absent' }
  /** The caller got the guarantee that nothing is done, so the message is never accepted. */
  | { readonly status: 'refused'; readonly code: string }
  | ({ readonly status: 'accepted' | 'answered' } & Accepted)
  | ({ readonly status: 'failed'; readonly code: string } & Accepted);

export const evolve = (delivery: Delivery, { type, data }: DeliveryEvent): Delivery => {
  if (type === 'MessageRefused') {
    return delivery.status === 'absent' ? { status: 'refused', code: data.code } : delivery;
  }
  if (type === 'MessageAccepted') {
    const { deliveryId, agentId, conversationId, at } = data;
    return { status: 'accepted', deliveryId, agentId, conversationId, acceptedAt: at };
  }
  if (delivery.status !== 'accepted' && delivery.status !== 'failed') return delivery;
  return type === 'MessageAnswered'
    ? { ...acceptedOf(delivery), status: 'answered' }
    : { ...acceptedOf(delivery), status: 'failed', code: data.code };
};

const acceptedOf = ({ deliveryId, agentId, conversationId, acceptedAt }: Accepted): Accepted => ({
  deliveryId,
  agentId,
  conversationId,
  acceptedAt,
});

/** What brought a message in: one path serves them all. */
export type DeliveryKind = 'chat' | 'webhook' | 'attachment' | 'schedule';

/** What happens to one message. No text of it stands in the log, only sizes in characters. Times are ISO 8601. */
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
      readonly type: 'MessageFailed';
      readonly data: {
        readonly deliveryId: string;
        readonly agentId: string;
        readonly code: string;
        readonly at: string;
      };
    };

export type Delivery =
  | { readonly status: 'absent' }
  | { readonly status: 'accepted'; readonly deliveryId: string; readonly agentId: string }
  | { readonly status: 'answered' }
  | { readonly status: 'failed'; readonly code: string };

export const evolve = (delivery: Delivery, event: DeliveryEvent): Delivery => {
  switch (event.type) {
    case 'MessageAccepted':
      return { status: 'accepted', deliveryId: event.data.deliveryId, agentId: event.data.agentId };
    case 'MessageAnswered':
      return delivery.status === 'accepted' ? { status: 'answered' } : delivery;
    case 'MessageFailed':
      return delivery.status === 'accepted' ? { status: 'failed', code: event.data.code } : delivery;
  }
};

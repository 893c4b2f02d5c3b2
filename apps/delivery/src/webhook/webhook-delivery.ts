/** The events of one invoked webhook. They never contain its body, only sizes. Times are ISO 8601. */
export type WebhookEvent =
  | {
      readonly type: 'WebhookAccepted';
      readonly data: WebhookMember & {
        /** null for a call without a token. */
        readonly tokenId: string | null;
        /** Size of the request's body. */
        readonly bytes: number;
        /** The delivery whose body it repeats. */
        readonly redeliveryOf: string | null;
      };
    }
  | {
      /** The message was not handed over, or the program declined it; it is tried again at `retryAt`. */
      readonly type: 'WebhookAttemptFailed';
      readonly data: WebhookMember & {
        readonly attempts: number;
        readonly code: string;
        readonly retryAt: string;
      };
    }
  | { readonly type: 'WebhookDelivered'; readonly data: WebhookMember & { readonly attempts: number } }
  | {
      readonly type: 'WebhookFailed';
      readonly data: WebhookMember & { readonly attempts: number; readonly code: string };
    };

interface WebhookMember {
  readonly deliveryId: string;
  readonly agentId: string;
  readonly at: string;
}

/** An accepted delivery that has not ended. */
export interface QueuedWebhook {
  readonly status: 'queued';
  readonly deliveryId: string;
  readonly agentId: string;
  readonly acceptedAt: string;
  readonly attempts: number;
  /** Not before this time; null before the first attempt. */
  readonly retryAt: string | null;
}

export type WebhookDelivery =
  | { readonly status: 'absent' }
  | QueuedWebhook
  | { readonly status: 'delivered' | 'failed'; readonly endedAt: string };

export const evolve = (delivery: WebhookDelivery, { type, data }: WebhookEvent): WebhookDelivery => {
  switch (type) {
    case 'WebhookAccepted': {
      const { deliveryId, agentId, at } = data;
      return { status: 'queued', deliveryId, agentId, acceptedAt: at, attempts: 0, retryAt: null };
    }
    case 'WebhookAttemptFailed': {
      const { attempts, retryAt } = data;
      return delivery.status === 'queued' ? { ...delivery, attempts, retryAt } : delivery;
    }
    case 'WebhookDelivered':
      return { status: 'delivered', endedAt: data.at };
    case 'WebhookFailed':
      return { status: 'failed', endedAt: data.at };
  }
};

import type { EventCodec } from '@berth/event-store';
import type { Decider } from '@berth/kernel';

/** The events of an agent's invoke token. The log never contains the token. */
export interface WebhookTokenEvent {
  readonly type: 'WebhookTokenIssued' | 'WebhookTokenRotated';
  readonly data: { readonly agentId: string; readonly tokenId: string; readonly at: string };
}

/** `Issue` creates the first token and does nothing if there is one. `Rotate` replaces the token. */
export interface WebhookTokenCommand {
  readonly type: 'Issue' | 'Rotate';
  readonly agentId: string;
  readonly tokenId: string;
  readonly at: string;
}

/** The id of the current token; null before the first. */
export interface WebhookTokenState {
  readonly tokenId: string | null;
  readonly createdAt: string;
}

export const webhookTokenDecider: Decider<WebhookTokenState, WebhookTokenCommand, WebhookTokenEvent> = {
  initial: { tokenId: null, createdAt: '' },
  decide: ({ type, ...data }, { tokenId }) => {
    if (type === 'Issue') return tokenId === null ? [{ type: 'WebhookTokenIssued', data }] : [];
    return [{ type: 'WebhookTokenRotated', data }];
  },
  evolve: (_state, { data: { tokenId, at } }) => ({ tokenId, createdAt: at }),
};

const isTokenEvent = (stored: { readonly type: string }): stored is WebhookTokenEvent =>
  stored.type === 'WebhookTokenIssued' || stored.type === 'WebhookTokenRotated';

/** Codec of the streams `webhookToken-agt_…`. */
export const webhookTokenCodec: EventCodec<WebhookTokenEvent> = {
  category: 'webhookToken',
  toStored: (event) => ({ type: event.type, data: { ...event.data } }),
  fromStored: (stored) => {
    if (!isTokenEvent(stored))
      throw new Error(`A webhook token stream holds an event of unknown type ${stored.type}.`);
    return stored;
  },
};

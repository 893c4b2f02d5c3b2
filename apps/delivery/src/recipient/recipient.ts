import type { EventCodec } from '@berth/event-store';
import type { Decider } from '@berth/kernel';

/** The agent as the recipient of messages, until it is deleted. */
export type RecipientEvent = {
  readonly type: 'RecipientGone';
  readonly data: { readonly agentId: string; readonly at: string };
};
export type RecipientCommand = { readonly type: 'Forget'; readonly agentId: string; readonly at: string };
export type Recipient = { readonly gone: boolean };

export const recipientDecider: Decider<Recipient, RecipientCommand, RecipientEvent> = {
  initial: { gone: false },
  decide: ({ agentId, at }, recipient) =>
    recipient.gone ? [] : [{ type: 'RecipientGone', data: { agentId, at } }],
  evolve: () => ({ gone: true }),
};

const isRecipientEvent = (stored: { readonly type: string }): stored is RecipientEvent =>
  stored.type === 'RecipientGone';

/** Codec of the streams `recipient-agt_…`. */
export const recipientCodec: EventCodec<RecipientEvent> = {
  category: 'recipient',
  toStored: (event) => ({ type: event.type, data: { ...event.data } }),
  fromStored: (stored) => {
    if (!isRecipientEvent(stored))
      throw new Error(`A recipient stream holds an event of unknown type ${stored.type}.`);
    return stored;
  },
};

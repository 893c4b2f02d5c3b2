import type { EventCodec } from '@berth/event-store';
import type { AccessRefused } from './refusal.js';

/** The streams are named `refusal-<hash of credential, route and minute>`. */
export const refusalCodec: EventCodec<AccessRefused> = {
  category: 'refusal',
  toStored: ({ type, ...data }) => ({ type, data }),
  fromStored: ({ type, data }) => {
    if (type !== 'AccessRefused') throw new Error(`A refusal stream holds an event of unknown type ${type}.`);
    return { type, ...(data as unknown as Omit<AccessRefused, 'type'>) };
  },
};

import type { EventCodec } from '@berth/event-store';
import type { OlderExecutionSubmitted } from './older-execution.js';

/** Codec of the streams `olderExecution-exe_…`. */
export const olderExecutionCodec: EventCodec<OlderExecutionSubmitted> = {
  category: 'olderExecution',
  toStored: ({ type, ...data }) => ({ type, data }),
  fromStored: ({ type, data }) => {
    if (type !== 'OlderExecutionSubmitted')
      throw new Error(`A stream of an older execution holds an event of unknown type ${type}.`);
    return { type, ...(data as unknown as Omit<OlderExecutionSubmitted, 'type'>) };
  },
};

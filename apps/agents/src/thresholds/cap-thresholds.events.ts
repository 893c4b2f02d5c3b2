import type { EventCodec } from '@berth/event-store';
import type { CapThresholdReached } from './cap-thresholds.js';

/** The streams are named `computeCap-eus_…-2026-11-01`. */
export const capThresholdsCodec: EventCodec<CapThresholdReached> = {
  category: 'computeCap',
  toStored: ({ type, ...data }) => ({ type, data }),
  fromStored: ({ type, data }) => {
    if (type !== 'CapThresholdReached')
      throw new Error(`The stream of a cap holds an event of unknown type ${type}.`);
    return { type, ...(data as unknown as Omit<CapThresholdReached, 'type'>) };
  },
};

import type { EventCodec } from '@berth/event-store';
import type { ExecutionEvent } from './execution.js';

const STORED_TYPES: ReadonlySet<string> = new Set<ExecutionEvent['type']>([
  'ExecutionSubmitted',
  'ExecutionRerouted',
  'ExecutionRefused',
  'ExecutionCancelRequested',
  'ExecutionEnded',
]);

const isExecutionEvent = (stored: { readonly type: string }): stored is ExecutionEvent =>
  STORED_TYPES.has(stored.type);

/** Codec of the streams `execution-exe_…`. */
export const executionCodec: EventCodec<ExecutionEvent> = {
  category: 'execution',
  toStored: (event) => ({ type: event.type, data: { ...event.data } }),
  fromStored: (stored) => {
    if (!isExecutionEvent(stored))
      throw new Error(`An execution stream contains an event of the unknown type ${stored.type}.`);
    return stored;
  },
};

import type { EventCodec } from '@berth/event-store';
import type { Decider } from '@berth/kernel';

interface About {
  readonly computerId: string;
  readonly at: string;
}

/** What a computer was used for, for the usage and the audit: counts and no content. Times are ISO 8601. */
export type ComputerUseEvent =
  | {
      readonly type: 'ActionsOpened';
      readonly data: About & { readonly batchId: string; readonly actions: number };
    }
  | {
      readonly type: 'ActionsDone';
      readonly data: About & {
        readonly batchId: string;
        readonly results: number;
        readonly images: number;
      };
    }
  /** Several, of a second. */
  | { readonly type: 'ScreenshotsTaken'; readonly data: About & { readonly count: number } }
  | {
      readonly type: 'ComputerCommandRun';
      readonly data: About & {
        readonly executionId: string;
        readonly commandBytes: number;
        readonly commandSha256: string;
      };
    }
  | { readonly type: 'ComputerFileWritten'; readonly data: About & { readonly bytes: number } }
  | { readonly type: 'ViewerSessionsClosed'; readonly data: About & { readonly sessions: number } };

/** The batches whose end was not reported yet, the oldest first: an end counts once. */
export interface ComputerUse {
  readonly openBatches: readonly string[];
}

/** Records the event, unless it is the end of a batch that is not open. */
export type RecordUse = ComputerUseEvent;

/** Of a computer, 100 may wait. The ends of those whose gateway has died are never reported. */
const MOST_OPEN = 256;

export const computerUseDecider: Decider<ComputerUse, RecordUse, ComputerUseEvent> = {
  initial: { openBatches: [] },
  decide: (event, { openBatches }) => {
    if (event.type === 'ActionsDone' && !openBatches.includes(event.data.batchId)) return [];
    if (event.type === 'ActionsOpened' && openBatches.includes(event.data.batchId)) return [];
    return event.type === 'ViewerSessionsClosed' && event.data.sessions === 0 ? [] : [event];
  },
  evolve: (use, event) => {
    if (event.type === 'ActionsOpened')
      return { openBatches: [...use.openBatches, event.data.batchId].slice(-MOST_OPEN) };
    return event.type === 'ActionsDone'
      ? { openBatches: use.openBatches.filter((batchId) => batchId !== event.data.batchId) }
      : use;
  },
};

const TYPES: ReadonlySet<string> = new Set<ComputerUseEvent['type']>([
  'ActionsOpened',
  'ActionsDone',
  'ScreenshotsTaken',
  'ComputerCommandRun',
  'ComputerFileWritten',
  'ViewerSessionsClosed',
]);

const isUseEvent = (stored: { readonly type: string }): stored is ComputerUseEvent => TYPES.has(stored.type);

/** Codec of the streams `computerUse-cmp_…`. */
export const computerUseCodec: EventCodec<ComputerUseEvent> = {
  category: 'computerUse',
  toStored: (event) => ({ type: event.type, data: { ...event.data } }),
  fromStored: (stored) => {
    if (isUseEvent(stored)) return stored;
    throw new Error(`The stream of a computer's use holds an event of unknown type ${stored.type}.`);
  },
};

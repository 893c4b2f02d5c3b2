import type { EventCodec } from '@berth/event-store';
import type { FileChangeEvent } from './file-change.js';

const STORED_TYPES: ReadonlySet<string> = new Set<FileChangeEvent['type']>([
  'FileChangeRequested',
  'FileChanged',
  'FileChangeRefused',
]);

const isFileChangeEvent = (stored: { readonly type: string }): stored is FileChangeEvent =>
  STORED_TYPES.has(stored.type);

/** Codec of the streams `fileChange-fch_…`. */
export const fileChangeCodec: EventCodec<FileChangeEvent> = {
  category: 'fileChange',
  toStored: (event) => ({ type: event.type, data: { ...event.data } }),
  fromStored: (stored) => {
    if (!isFileChangeEvent(stored))
      throw new Error(`A file change stream contains an event of unknown type ${stored.type}.`);
    return stored;
  },
};

import type { EventCodec, EventData, StoredEvent } from '@berth/event-store';
import type { FileChangeEvent } from './file-change.js';

const STORED_TYPES: ReadonlySet<string> = new Set<FileChangeEvent['type']>([
  'FileChangeRequested.v2',
  'FileChanged.v2',
  'FileChangeRefused',
]);

const isFileChangeEvent = (stored: { readonly type: string }): stored is FileChangeEvent =>
  STORED_TYPES.has(stored.type);

/** Codec of the streams `fileChange-fch_…`. */
export const fileChangeCodec: EventCodec<FileChangeEvent> = {
  category: 'fileChange',
  toStored: (event) => ({ type: event.type, data: { ...event.data } }),
  fromStored: (stored) => {
    const current = upcast(stored);
    if (!isFileChangeEvent(current))
      throw new Error(`A file change stream contains an event of unknown type ${stored.type}.`);
    return current;
  },
};

/** Before end users had keys, all paths were in plaintext. */
const upcast = (stored: StoredEvent): StoredEvent => {
  const { data } = stored;
  if (stored.type === 'FileChangeRequested') {
    const { path, to, ...rest } = data;
    return { type: 'FileChangeRequested.v2', data: { ...rest, personal: inTheClear({ path, to }) } };
  }
  if (stored.type === 'FileChanged') {
    const { path, from, name, ...rest } = data;
    return { type: 'FileChanged.v2', data: { ...rest, personal: inTheClear({ path, from, name }) } };
  }
  return stored;
};

const inTheClear = (paths: EventData): { readonly endUserId: null; readonly data: EventData } => ({
  endUserId: null,
  data: Object.fromEntries(Object.entries(paths).filter(([, path]) => path !== undefined)),
});

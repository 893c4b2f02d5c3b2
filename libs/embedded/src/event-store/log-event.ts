/** Revision of the event that closes a tombstoned stream permanently; from then on also the stream's last revision. */
export const TOMBSTONE_REVISION = Number.MAX_SAFE_INTEGER;

/** EventStoreDB's value for {@link TOMBSTONE_REVISION} and for the `$tb` of a soft-deleted stream (int64 max). */
export const TOMBSTONE_REVISION_ON_THE_WIRE = '9223372036854775807';

/** Expected revisions with a special meaning; the numbers are EventStoreDB's own. */
export const NO_STREAM = -1;
export const ANY = -2;
export const STREAM_EXISTS = -4;

/** The revision at which a writer expects the stream: a revision >= 0, or one of the constants above. */
export type ExpectedRevision = number;

/** Maximum size of an append in bytes, as computed by {@link eventSize} (EventStoreDB's default). */
export const MAX_APPEND_BYTES = 1_048_576;

/** An event as a writer proposes it. `id` has 16 bytes; `data` and `metadata` are opaque. */
export interface ProposedEvent {
  readonly id: Buffer;
  readonly type: string;
  readonly isJson: boolean;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

/** An event in the log. `position` is its place in the whole log, `created` is in milliseconds since 1970. */
export interface RecordedEvent {
  readonly position: number;
  readonly streamName: string;
  readonly revision: number;
  readonly id: Uint8Array;
  readonly type: string;
  readonly isJson: boolean;
  readonly created: number;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

/** The size of an event towards {@link MAX_APPEND_BYTES}; the type counts as UTF-16, as in EventStoreDB. */
export function eventSize(event: ProposedEvent): number {
  return event.data.length + event.metadata.length + event.type.length * 2;
}

/** A map key for an event id; short, and equal exactly when the 16 bytes are equal. */
export function idKey(id: Uint8Array): string {
  return Buffer.from(id.buffer, id.byteOffset, id.byteLength).toString('latin1');
}

/** The stream that holds the metadata of `streamName`. */
export function metastreamOf(streamName: string): string {
  return `$$${streamName}`;
}

/** The stream whose metadata `streamName` holds; undefined when it is not a metadata stream. */
export function originalStreamOf(streamName: string): string | undefined {
  return streamName.startsWith('$$') ? streamName.slice(2) : undefined;
}

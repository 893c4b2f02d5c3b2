import { TOMBSTONE_REVISION, TOMBSTONE_REVISION_ON_THE_WIRE } from './log-event.js';

/** The part of a stream's metadata that limits what a reader sees: revisions, counts, and the age in milliseconds. */
export interface StreamMetadata {
  readonly maxCount?: number;
  readonly maxAgeMs?: number;
  readonly truncateBefore?: number;
}

const NONE: StreamMetadata = {};

/** A metadata stream shows readers only its newest event, as in EventStoreDB. */
export const METASTREAM_METADATA: StreamMetadata = { maxCount: 1 };

/** Parses a `$metadata` event. Invalid metadata counts as none, as in EventStoreDB. */
export function parseStreamMetadata(data: Uint8Array): StreamMetadata {
  const fields = parseObject(data);
  const maxCount = fields['$maxCount'];
  const maxAge = fields['$maxAge'];
  const truncateBefore = fields['$tb'];
  if (!isLimit(maxCount, 1) || !isLimit(maxAge, 1) || !isLimit(truncateBefore, 0)) return NONE;
  return {
    ...(maxCount === undefined ? {} : { maxCount }),
    ...(maxAge === undefined ? {} : { maxAgeMs: maxAge * 1000 }),
    ...(truncateBefore === undefined ? {} : { truncateBefore }),
  };
}

/** Soft-deleted: every existing event is hidden until the stream is written to again. */
export function isSoftDeleted(metadata: StreamMetadata): boolean {
  // int64 max is not exactly representable in JSON; anything above the safe integers stands for it.
  return metadata.truncateBefore !== undefined && metadata.truncateBefore >= TOMBSTONE_REVISION;
}

/** Returns the same metadata with another `$tb`: the first visible revision, or 'everything' to soft-delete. */
export function withTruncateBefore(data: Uint8Array | undefined, before: number | 'everything'): Buffer {
  const { $tb: _replaced, ...rest } = data === undefined ? {} : parseObject(data);
  const others = JSON.stringify(rest).slice(1, -1);
  const value = before === 'everything' ? TOMBSTONE_REVISION_ON_THE_WIRE : String(before);
  return Buffer.from(`{${others}${others === '' ? '' : ','}"$tb":${value}}`);
}

/** The first revision that a reader can see. */
export function firstVisibleRevision(metadata: StreamMetadata, lastRevision: number): number {
  const byCount = metadata.maxCount === undefined ? 0 : lastRevision - metadata.maxCount + 1;
  return Math.max(0, byCount, metadata.truncateBefore ?? 0);
}

function parseObject(data: Uint8Array): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(data).toString('utf8'));
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return {};
    return { ...parsed };
  } catch {
    return {};
  }
}

function isLimit(value: unknown, least: number): value is number | undefined {
  return value === undefined || (typeof value === 'number' && Number.isInteger(value) && value >= least);
}

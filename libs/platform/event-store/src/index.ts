export {
  PositionBeyondLog,
  RevisionConflict,
  type Appended,
  type EventData,
  type EventMetadata,
  EventStore,
  type ExpectedRevision,
  type NewEvent,
  type RecordedEvent,
  type SubscribeOptions,
  type SubscriptionItem,
} from './event-store.js';
export { connectEventStore } from './esdb-event-store.js';
export { MemoryEventStore } from './memory-event-store.js';
export { streamName, type EventCodec, type StoredEvent } from './event-codec.js';
export { EventStreams, type EventStreamsOptions, type HandleOptions, type Handled } from './event-streams.js';
export { SnapshotTable } from './snapshot-table.js';
export type { SnapshotOptions } from './snapshots.js';
export type { CommandMeta } from './new-events.js';
export type { Projection, ProjectionStatus, RebuildProgress } from './projection.js';
export { tablesBehindViews } from './tables-behind-views.js';
export { ProjectionRunner } from './projection-runner.js';
export type { ChangeWatch } from './change-watch.js';
export { batchesOf, type EventBatch } from './event-batches.js';
export { KeyedQueue } from './keyed-queue.js';
export { LruCache } from './lru-cache.js';

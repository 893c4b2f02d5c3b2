import type { AllStreamRecordedEvent, EventType, ResolvedEvent } from '@eventstore/db-client';
import type { EventData, EventMetadata, RecordedEvent } from './event-store.js';

type ClientEvent = NonNullable<ResolvedEvent<EventType>['event']> | AllStreamRecordedEvent;

/** What the client read, in the port's shape. */
export const toRecorded = (event: ClientEvent, commitPosition?: bigint): RecordedEvent => ({
  id: event.id,
  type: event.type,
  stream: event.streamId,
  revision: event.revision,
  position: event.position?.commit ?? commitPosition ?? 0n,
  createdAt: event.created,
  data: event.data as EventData,
  // Every event of ours was written with it; a foreign one may have none.
  metadata: (event.metadata ?? {}) as unknown as EventMetadata,
});

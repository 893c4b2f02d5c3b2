import type { AllStreamRecordedEvent, EventType, ResolvedEvent } from '@eventstore/db-client';
import type { EventData, EventMetadata, RecordedEvent } from './event-store.js';

type ClientEvent = NonNullable<ResolvedEvent<EventType>['event']> | AllStreamRecordedEvent;

/** Converts an event of the client. `commitPosition`: its position in the log if the event itself has none. */
export const toRecorded = (event: ClientEvent, commitPosition?: bigint): RecordedEvent => ({
  id: event.id,
  type: event.type,
  stream: event.streamId,
  revision: event.revision,
  position: event.position?.commit ?? commitPosition ?? 0n,
  createdAt: event.created,
  data: event.data as EventData,
  // Events of other applications may have no metadata.
  metadata: (event.metadata ?? {}) as unknown as EventMetadata,
});

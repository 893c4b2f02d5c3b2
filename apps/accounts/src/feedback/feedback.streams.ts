import { EventStreams, EventStore, SnapshotTable } from '@berth/event-store';
import { Injectable } from '@nestjs/common';
import {
  feedbackCodec,
  feedbackDecider,
  type Feedback,
  type FeedbackCommand,
  type FeedbackEvent,
} from './feedback.js';

/** Two processes that count the same reports at once must both end with an answer. */
const MAX_CONFLICTS = 30;
const SNAPSHOT_VERSION = 1;

/** Loads the streams `feedback-…` and appends the events that their decider decides. */
@Injectable()
export class FeedbackStreams extends EventStreams<Feedback, FeedbackCommand, FeedbackEvent> {
  constructor(store: EventStore, snapshots: SnapshotTable) {
    super({
      store,
      decider: feedbackDecider,
      codec: feedbackCodec,
      maxConflicts: MAX_CONFLICTS,
      snapshots: { table: snapshots, version: SNAPSHOT_VERSION },
    });
  }
}

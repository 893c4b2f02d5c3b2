import { EventStreams, EventStore } from '@berth/event-store';
import { Injectable } from '@nestjs/common';
import { fileChangeDecider, type FileChangeCommand } from './file-change.decider.js';
import { fileChangeCodec } from './file-change.events.js';
import type { FileChangeEvent, FileChangeState } from './file-change.js';

/** Loads the streams `fileChange-…` and appends the events that their decider decides. */
@Injectable()
export class FileChangeStreams extends EventStreams<FileChangeState, FileChangeCommand, FileChangeEvent> {
  constructor(store: EventStore) {
    super({ store, decider: fileChangeDecider, codec: fileChangeCodec });
  }
}

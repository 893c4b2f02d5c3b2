import { EventStreams, EventStore } from '@berth/event-store';
import { Injectable } from '@nestjs/common';
import type { InstallationEvent, InstallationState } from './installation.js';
import { installationDecider, type InstallationCommand } from './installation.decider.js';
import { installationCodec } from './installation.events.js';

/** Loads the streams `installation-…` and appends the events that their decider decides. */
@Injectable()
export class InstallationStreams extends EventStreams<
  InstallationState,
  InstallationCommand,
  InstallationEvent
> {
  constructor(store: EventStore) {
    super({ store, decider: installationDecider, codec: installationCodec });
  }
}

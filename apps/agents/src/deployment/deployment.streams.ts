import { EventStreams, EventStore } from '@berth/event-store';
import { Injectable } from '@nestjs/common';
import { deploymentDecider, type DeploymentCommand } from './deployment.decider.js';
import { deploymentCodec } from './deployment.events.js';
import type { Deployment, DeploymentEvent } from './deployment.js';

/** Loads the streams `deployment-dep_…` and appends the events that their decider decides. */
@Injectable()
export class DeploymentStreams extends EventStreams<Deployment, DeploymentCommand, DeploymentEvent> {
  constructor(store: EventStore) {
    super({ store, decider: deploymentDecider, codec: deploymentCodec });
  }
}

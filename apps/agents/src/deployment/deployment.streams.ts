import { CommandHandler, EventStore } from '@berth/event-store';
import { Injectable } from '@nestjs/common';
import { deploymentDecider, type DeploymentCommand } from './deployment.decider.js';
import { deploymentCodec } from './deployment.events.js';
import type { Deployment, DeploymentEvent } from './deployment.js';

/** The streams `deployment-dep_…`. */
@Injectable()
export class DeploymentStreams extends CommandHandler<Deployment, DeploymentCommand, DeploymentEvent> {
  constructor(store: EventStore) {
    super({ store, decider: deploymentDecider, codec: deploymentCodec });
  }
}

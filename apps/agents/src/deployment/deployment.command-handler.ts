import type { ProjectionRunner } from '@berth/event-store';
import { InjectProjection } from '@berth/service';
import { Injectable } from '@nestjs/common';
import type { CommandOrigin } from '../agent/agent.command-handler.js';
import { deploymentListProjection } from '../deployment-list/deployment-list.projection.js';
import type { DeploymentCommand } from './deployment.decider.js';
import { DeploymentStreams } from './deployment.streams.js';
import type { Deployment } from './deployment.js';

/** Executes commands on deployments, and waits (bounded) until the list of deployments shows the result. */
@Injectable()
export class DeploymentCommandHandler {
  constructor(
    private readonly streams: DeploymentStreams,
    @InjectProjection(deploymentListProjection) private readonly list: Pick<ProjectionRunner, 'waitFor'>,
  ) {}

  async load(deploymentId: string): Promise<Deployment> {
    return (await this.streams.load(deploymentId)).state;
  }

  async handle(deploymentId: string, command: DeploymentCommand, origin: CommandOrigin): Promise<Deployment> {
    const { state, position } = await this.streams.handle(deploymentId, command, origin);
    if (position !== null) await this.list.waitFor(position);
    return state;
  }
}

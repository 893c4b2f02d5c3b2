import {
  agentsRequests,
  type AcceptedDeployment,
  type Deploy,
  type DeploymentView,
  type GetDeployment,
  type ListDeployments,
} from '@berth/contracts/agents';
import type { Page } from '@berth/kernel';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { DeploymentListQuery } from '../deployment-list/deployment-list.query.js';
import { DeployCommandHandler } from './deploy.command-handler.js';

@Controller()
export class DeploymentNatsController {
  constructor(
    private readonly commands: DeployCommandHandler,
    private readonly list: DeploymentListQuery,
  ) {}

  @HandleRequest(agentsRequests.deploy)
  deploy(request: Deploy): Promise<AcceptedDeployment> {
    return this.commands.deploy(request);
  }

  @HandleRequest(agentsRequests.listDeployments)
  listDeployments(request: ListDeployments): Promise<Page<DeploymentView>> {
    return this.list.list(request);
  }

  @HandleRequest(agentsRequests.getDeployment)
  getDeployment(request: GetDeployment): Promise<DeploymentView> {
    return this.list.get(request);
  }
}

import {
  agentsRequests,
  deployBody,
  type AcceptedDeployment,
  type DeployBody,
  type DeploymentView,
} from '@berth/contracts/agents';
import { pageQuery, type PageQuery } from '@berth/contracts/schema';
import type { Page } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Body, Controller, Get, Param, Post, Query, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { agentOf } from '../agents/agent.resource.js';
import { AppUrls } from '../app-proxy/app-urls.js';
import { callerOf, envelopeOf } from '../auth/caller.js';
import type { ApiRequest } from '../http/fastify-types.js';
import { Route } from '../http/route.decorator.js';
import { deploymentOf } from './deployment.resource.js';

@ApiTags('Deployments')
@Controller('api')
export class DeploymentsController {
  constructor(
    private readonly requester: Requester,
    private readonly apps: AppUrls,
  ) {}

  @Route({
    accepts: { key: 'deploy' },
    body: { kind: 'json', shape: deployBody },
    summary: 'Deploy a repository or an image to an agent',
    description:
      'Fetches and builds in the background, and then starts the version: a running agent is restarted with it, a failed one is started with it, and any other uses it from its next start. If the version does not run within 60 s, the previous one is started instead. Follow `GET …/deployments/{deployment_id}`, and the logs with the source `build`.',
    responses: [{ status: 202, description: 'Accepted.', schema: 'AcceptedDeployment' }],
    errors: [
      'agent_not_found',
      'end_user_suspended',
      'compute_cap_reached',
      'repo_url_refused',
      'image_refused',
      'images_unsupported',
    ],
  })
  @Post('deploy')
  async deploy(@Req() request: ApiRequest, @Body() body: DeployBody): Promise<AcceptedDeployment> {
    const { deploymentId, agent } = await this.requester.request(agentsRequests.deploy, {
      ...envelopeOf(request),
      agentId: body.agentId,
      source: body.source,
      repoUrl: body.repoUrl ?? null,
      branch: body.branch ?? null,
      tokenEnv: body.tokenEnv ?? null,
      image: body.image ?? null,
    });
    return { deploymentId, agent: await this.apps.shown(agent) };
  }

  @Route({
    accepts: { key: 'read' },
    resource: agentOf('agent_id'),
    query: pageQuery,
    summary: 'List the deployments of an agent, newest first',
    responses: [{ status: 200, description: 'One page.', schema: 'DeploymentPage' }],
    errors: ['agent_not_found'],
  })
  @Get('agents/:agent_id/deployments')
  list(
    @Req() request: ApiRequest,
    @Param('agent_id') agentId: string,
    @Query() query: PageQuery,
  ): Promise<Page<DeploymentView>> {
    return this.requester.request(agentsRequests.listDeployments, {
      accountId: callerOf(request).accountId,
      agentId,
      cursor: query.cursor ?? null,
      limit: query.limit,
    });
  }

  @Route({
    accepts: { key: 'read' },
    resource: [agentOf('agent_id'), deploymentOf('deployment_id')],
    summary: 'Get a deployment',
    responses: [{ status: 200, description: 'The deployment.', schema: 'Deployment' }],
    errors: ['agent_not_found', 'deployment_not_found'],
  })
  @Get('agents/:agent_id/deployments/:deployment_id')
  get(
    @Req() request: ApiRequest,
    @Param('agent_id') agentId: string,
    @Param('deployment_id') deploymentId: string,
  ): Promise<DeploymentView> {
    const { accountId } = callerOf(request);
    return this.requester.request(agentsRequests.getDeployment, { accountId, agentId, deploymentId });
  }
}

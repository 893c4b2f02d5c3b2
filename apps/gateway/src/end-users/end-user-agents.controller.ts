import {
  agentsRequests,
  createAgentOfEndUserBody,
  type AgentView,
  type CreateAgentOfEndUserBody,
} from '@berth/contracts/agents';
import { endUsersRequests } from '@berth/contracts/end-users';
import { Requester } from '@berth/messaging';
import { Body, Controller, Get, Param, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { creationOf } from '../agents/creation-of.js';
import { AppUrls } from '../app-proxy/app-urls.js';
import { callerOf, envelopeOf } from '../auth/caller.js';
import type { ApiReply, ApiRequest } from '../http/fastify-types.js';
import { Route } from '../http/route.decorator.js';
import { agentsOfEndUser } from './agents-of-end-user.js';
import { endUser, endUserToBe } from './end-user.resource.js';

@ApiTags('End users')
@Controller('api/v1/end-users/:external_id/agents')
export class EndUserAgentsController {
  constructor(
    private readonly requester: Requester,
    private readonly apps: AppUrls,
  ) {}

  @Route({
    accepts: { key: ['manage', 'deploy'] },
    resource: endUserToBe,
    body: { kind: 'json', shape: createAgentOfEndUserBody },
    summary: "Get or create an end user's agent",
    description:
      'The agent that this request made for the end user and that still exists; otherwise creates it, and the end user if unknown. Any number of concurrent requests create one. If the agent exists, the body is checked and then ignored.',
    responses: [
      { status: 201, description: 'Created: the agent, `deploying`.', schema: 'Agent', location: true },
      { status: 200, description: 'The agent that exists.', schema: 'Agent', location: true },
    ],
    errors: [
      'invalid_external_id',
      'unknown_template',
      'end_user_suspended',
      'agent_name_taken',
      'external_id_taken',
      'plan_limit_reached',
      'no_capacity',
    ],
  })
  @Post()
  async create(
    @Req() request: ApiRequest,
    @Param('external_id') externalUserId: string,
    @Body() body: CreateAgentOfEndUserBody,
    @Res({ passthrough: true }) reply: ApiReply,
  ): Promise<AgentView> {
    const { agent, created } = await this.requester.request(agentsRequests.createForEndUser, {
      ...envelopeOf(request),
      ...creationOf({ ...body, name: body.name ?? externalUserId }),
      externalUserId,
    });
    reply.code(created ? 201 : 200).header('location', `/api/agents/${agent.id}`);
    return this.apps.shown(agent);
  }

  @Route({
    accepts: { key: 'read' },
    resource: endUser,
    summary: 'List the agents of an end user, newest first',
    description: 'Every agent with this `externalUserId`, however it was created.',
    responses: [{ status: 200, description: 'The agents.', schema: 'AgentList' }],
    errors: ['end_user_not_found'],
  })
  @Get()
  async list(
    @Req() request: ApiRequest,
    @Param('external_id') externalId: string,
  ): Promise<{ readonly items: readonly AgentView[] }> {
    const { accountId } = callerOf(request);
    const [agents] = await Promise.all([
      agentsOfEndUser(this.requester, accountId, externalId),
      this.requester.request(endUsersRequests.get, { accountId, externalId }),
    ]);
    return { items: await Promise.all(agents.map((agent) => this.apps.shown(agent))) };
  }
}

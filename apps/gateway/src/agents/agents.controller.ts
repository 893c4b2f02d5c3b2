import {
  agentsRequests,
  createAgentBody,
  getAgentQuery,
  listAgentsQuery,
  type AgentView,
  type CreateAgentBody,
  type GetAgentQuery,
  type ListAgentsQuery,
} from '@berth/contracts/agents';
import type { Page } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Body, Controller, Delete, Get, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AppUrls } from '../app-proxy/app-urls.js';
import { callerOf, envelopeOf } from '../auth/caller.js';
import { agentOf } from './agent.resource.js';
import { creationOf } from './creation-of.js';
import { Route } from '../http/route.decorator.js';
import type { ApiReply, ApiRequest } from '../http/fastify-types.js';
import { scopesOfCreation } from './scopes-of-creation.js';

@ApiTags('Agents')
@Controller('api/agents')
export class AgentsController {
  constructor(
    private readonly requester: Requester,
    private readonly apps: AppUrls,
  ) {}

  @Route({
    accepts: { key: 'deploy' },
    body: { kind: 'json', shape: createAgentBody, scopes: scopesOfCreation },
    summary: 'Create an agent from a template',
    description: 'Deployment starts immediately; `GET …?wait=running` returns when it is complete.',
    responses: [{ status: 201, description: 'The agent, `deploying`.', schema: 'Agent', location: true }],
    errors: [
      'unknown_template',
      'invalid_external_id',
      'end_user_suspended',
      'compute_cap_reached',
      'agent_name_taken',
      'external_id_taken',
      'plan_limit_reached',
      'no_capacity',
    ],
  })
  @Post()
  async create(
    @Req() request: ApiRequest,
    @Body() body: CreateAgentBody,
    @Res({ passthrough: true }) reply: ApiReply,
  ): Promise<AgentView> {
    const agent = await this.requester.request(agentsRequests.create, {
      ...envelopeOf(request),
      ...creationOf(body),
      externalUserId: body.externalUserId ?? null,
    });
    reply.header('location', `/api/agents/${agent.id}`);
    return this.apps.shown(agent);
  }

  @Route({
    accepts: { key: 'read' },
    query: listAgentsQuery,
    summary: 'List agents, newest first',
    responses: [{ status: 200, description: 'One page.', schema: 'AgentPage' }],
  })
  @Get()
  async list(@Req() request: ApiRequest, @Query() query: ListAgentsQuery): Promise<Page<AgentView>> {
    const { items, nextCursor } = await this.requester.request(agentsRequests.list, {
      accountId: callerOf(request).accountId,
      externalId: query.externalId ?? null,
      externalUserId: query.externalUserId ?? null,
      state: query.state ?? null,
      name: query.name ?? null,
      label: query.label ?? null,
      cursor: query.cursor ?? null,
      limit: query.limit,
    });
    return { items: await Promise.all(items.map((agent) => this.apps.shown(agent))), nextCursor };
  }

  @Route({
    accepts: { key: 'read', end_user: 'any' },
    resource: agentOf('agent_id'),
    query: getAgentQuery,
    summary: 'Get an agent, or wait for its state',
    description:
      'A token of an end user gets it without `externalId`, `externalUserId`, `instructions`, `labels`, `source` and `lastError`.',
    responses: [{ status: 200, description: 'The agent in its current state.', schema: 'Agent' }],
    errors: ['agent_not_found'],
  })
  @Get(':agent_id')
  async get(
    @Req() request: ApiRequest,
    @Param('agent_id') agentId: string,
    @Query() { wait, timeout }: GetAgentQuery,
  ): Promise<Partial<AgentView>> {
    const caller = callerOf(request);
    const agent = await this.requester.request(agentsRequests.get, {
      accountId: caller.accountId,
      agentId,
      wait: wait === undefined ? null : { state: wait, timeoutSeconds: timeout },
    });
    const shown = await this.apps.shown(agent);
    return caller.kind === 'end_user' ? shownToEndUsers(shown) : shown;
  }

  @Route({
    accepts: { key: 'deploy' },
    resource: agentOf('agent_id'),
    summary: 'Delete an agent, its container and its volume',
    description: 'Works in every state. Its name and external id can be used again immediately.',
    responses: [{ status: 204, description: 'Deleted.' }],
    errors: ['agent_not_found'],
  })
  @Delete(':agent_id')
  async delete(@Req() request: ApiRequest, @Param('agent_id') agentId: string): Promise<void> {
    await this.requester.request(agentsRequests.delete, { ...envelopeOf(request), agentId });
  }
}

/** An end user sees its agent without what the owner keeps about it. */
const shownToEndUsers = ({
  externalId: _externalId,
  externalUserId: _externalUserId,
  instructions: _instructions,
  labels: _labels,
  source: _source,
  lastError: _lastError,
  ...shown
}: AgentView): Partial<AgentView> => shown;

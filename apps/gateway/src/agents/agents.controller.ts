import {
  agentsRequests,
  createAgentBody,
  getAgentQuery,
  listAgentsQuery,
  type AgentView,
  type CreateAgent,
  type CreateAgentBody,
  type EnvVarBody,
  type GetAgentQuery,
  type ListAgentsQuery,
  type ResourcesBody,
} from '@berth/contracts/agents';
import type { Page } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Body, Controller, Delete, Get, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AppUrls } from '../app-proxy/app-urls.js';
import { callerOf, envelopeOf } from '../auth/caller.js';
import { isSecret } from '../env/is-secret.js';
import { agentOf } from './agent.resource.js';
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
      'end_user_suspended',
      'compute_cap_reached',
      'agent_name_taken',
      'external_id_taken',
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
      name: body.name,
      templateId: body.templateId,
      externalId: body.externalId ?? null,
      externalUserId: body.externalUserId ?? null,
      instructions: body.instructions ?? null,
      idleTtlSeconds: body.idleTtlSeconds ?? null,
      labels: body.labels ?? {},
      env: envOf(body.env),
      resources: withoutNulls(body.resources ?? {}),
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

const envOf = (env: CreateAgentBody['env']): CreateAgent['env'] => {
  if (env === undefined || env === null) return [];
  if (isList(env))
    return env.map((item) => ({ key: item.key, value: item.value, isSecret: isSecret(item) ?? false }));
  return Object.entries(env).map(([key, value]) => ({ key, value, isSecret: false }));
};

const isList = (env: NonNullable<CreateAgentBody['env']>): env is readonly EnvVarBody[] => Array.isArray(env);

const withoutNulls = ({ memMb, vcpus, diskGb }: ResourcesBody): CreateAgent['resources'] => {
  return {
    ...(memMb === undefined || memMb === null ? {} : { memMb }),
    ...(vcpus === undefined || vcpus === null ? {} : { vcpus }),
    ...(diskGb === undefined || diskGb === null ? {} : { diskGb }),
  };
};

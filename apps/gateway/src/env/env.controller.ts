import {
  agentsRequests,
  envValueBody,
  type AgentView,
  type EnvPage,
  type EnvValueBody,
  type EnvVarView,
} from '@berth/contracts/agents';
import { variableName } from '@berth/contracts/schema';
import { Requester } from '@berth/messaging';
import { Body, Controller, Delete, Get, Param, Post, Put, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AppUrls } from '../app-proxy/app-urls.js';
import { callerOf, envelopeOf } from '../auth/caller.js';
import { agentOf } from '../agents/agent.resource.js';
import { Route } from '../http/route.decorator.js';
import type { ApiRequest } from '../http/fastify-types.js';
import { isSecret } from './is-secret.js';

@ApiTags('Environment')
@Controller('api/agents/:agent_id/env')
export class EnvController {
  constructor(
    private readonly requester: Requester,
    private readonly apps: AppUrls,
  ) {}

  @Route({
    accepts: { key: 'read' },
    resource: agentOf('agent_id'),
    summary: 'List the variables of an agent',
    responses: [
      { status: 200, description: 'All variables, secret values as `********`.', schema: 'EnvList' },
    ],
    errors: ['agent_not_found'],
  })
  @Get()
  async list(
    @Req() request: ApiRequest,
    @Param('agent_id') agentId: string,
  ): Promise<{ readonly items: readonly EnvVarView[] }> {
    const { accountId } = callerOf(request);
    const items: EnvVarView[] = [];
    let after: string | null = null;
    do {
      const page: EnvPage = await this.requester.request(agentsRequests.listEnv, {
        accountId,
        agentId,
        after,
      });
      items.push(...page.items);
      after = page.next;
    } while (after !== null);
    return { items };
  }

  @Route({
    accepts: { key: 'deploy' },
    resource: agentOf('agent_id'),
    body: { kind: 'json', shape: envValueBody },
    params: { key: variableName },
    summary: 'Set a variable',
    description: 'A running agent sees it after a reload or its next start.',
    responses: [{ status: 200, description: 'The variable.', schema: 'EnvVar' }],
    errors: ['agent_not_found'],
  })
  @Put(':key')
  put(
    @Req() request: ApiRequest,
    @Param('agent_id') agentId: string,
    @Param('key') key: string,
    @Body() body: EnvValueBody,
  ): Promise<EnvVarView> {
    return this.requester.request(agentsRequests.setEnv, {
      ...envelopeOf(request),
      agentId,
      key,
      value: body.value,
      isSecret: isSecret(body),
    });
  }

  @Route({
    accepts: { key: 'deploy' },
    resource: agentOf('agent_id'),
    params: { key: variableName },
    summary: 'Delete a variable',
    responses: [{ status: 204, description: 'Deleted.' }],
    errors: ['agent_not_found', 'env_var_not_found'],
  })
  @Delete(':key')
  async delete(
    @Req() request: ApiRequest,
    @Param('agent_id') agentId: string,
    @Param('key') key: string,
  ): Promise<void> {
    await this.requester.request(agentsRequests.deleteEnv, { ...envelopeOf(request), agentId, key });
  }

  @Route({
    accepts: { key: 'deploy' },
    resource: agentOf('agent_id'),
    summary: 'Give a running agent its current variables',
    description:
      'Restarts the agent’s program, after a start in progress. A sleeping or stopped agent gets them when it wakes or is started.',
    responses: [{ status: 200, description: 'The agent.', schema: 'Agent' }],
    errors: ['agent_not_found', 'env_too_large', 'agent_start_failed', 'agent_unavailable'],
  })
  @Post('reload')
  async reload(@Req() request: ApiRequest, @Param('agent_id') agentId: string): Promise<AgentView> {
    const command = { ...envelopeOf(request), agentId };
    return this.apps.shown(await this.requester.request(agentsRequests.reloadEnv, command));
  }
}

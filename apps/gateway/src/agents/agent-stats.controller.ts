import { agentsRequests } from '@berth/contracts/agents';
import { runtimeRequests, type AgentUsage } from '@berth/contracts/runtime';
import { isDomainError } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Controller, Get, Param, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { callerOf } from '../auth/caller.js';
import type { ApiRequest } from '../http/fastify-types.js';
import { Route } from '../http/route.decorator.js';
import { agentOf } from './agent.resource.js';
import { statsOf, type AgentStats } from './agent-stats.js';

@ApiTags('Agents')
@Controller('api/agents/:agent_id/stats')
export class AgentStatsController {
  constructor(private readonly requester: Requester) {}

  @Route({
    accepts: { key: 'read' },
    resource: agentOf('agent_id'),
    summary: 'Read what an agent uses',
    description:
      'Never wakes the agent and is no activity. An agent that is cold, stopped or failed uses disk only; every other figure is null then, and where the host cannot measure it.',
    responses: [{ status: 200, description: 'The figures as of now.', schema: 'AgentStats' }],
    errors: ['agent_not_found'],
  })
  @Get()
  async read(@Req() request: ApiRequest, @Param('agent_id') agentId: string): Promise<AgentStats> {
    const { accountId } = callerOf(request);
    const [agent, { host }] = await Promise.all([
      this.requester.request(agentsRequests.get, { accountId, agentId, wait: null }),
      this.requester.request(agentsRequests.locate, { accountId, agentId }),
    ]);
    const usage = host === null ? null : await this.usageOf(agentId, host);
    return statsOf(agent, usage, new Date().toISOString());
  }

  private async usageOf(agentId: string, host: string): Promise<AgentUsage | null> {
    try {
      return await this.requester.request(runtimeRequests.usage, { agentId }, { host });
    } catch (error) {
      if (isDomainError(error) && error.code === 'agent_not_on_host') return null;
      throw error;
    }
  }
}

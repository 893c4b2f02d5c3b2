import { agentsRequests, type AgentView } from '@berth/contracts/agents';
import {
  publishSchedulesBody,
  schedulesRequests,
  type PublishSchedulesBody,
} from '@berth/contracts/schedules';
import type { Json } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Body, Controller, Get, Put, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { callerOf, envelopeOf } from '../auth/caller.js';
import type { AgentPrincipal } from '../auth/principal.js';
import { Route } from '../http/route.decorator.js';
import type { ApiRequest } from '../http/fastify-types.js';

/** What an agent sees of itself. */
export type AgentSelf = Pick<
  AgentView,
  'id' | 'name' | 'externalId' | 'externalUserId' | 'labels' | 'resources' | 'idleTtlSeconds'
>;

/** Routes for the programs of agents, which reach them at `BERTH_API_URL` with `BERTH_AGENT_TOKEN`. */
@ApiTags('Inside an agent')
@Controller('agent/v1')
export class InsideAgentController {
  constructor(private readonly requester: Requester) {}

  @Route({
    accepts: { agent: true },
    summary: 'Get the calling agent',
    description: 'The token is good while the start of the agent lives for which it was made.',
    responses: [{ status: 200, description: 'The agent.', schema: 'AgentSelf' }],
    errors: ['agent_not_found'],
  })
  @Get('self')
  async self(@Req() request: ApiRequest): Promise<AgentSelf> {
    const { accountId, agentId } = agentIn(request);
    const agent = await this.requester.request(agentsRequests.get, { accountId, agentId, wait: null });
    const { id, name, externalId, externalUserId, labels, resources, idleTtlSeconds } = agent;
    return { id, name, externalId, externalUserId, labels, resources, idleTtlSeconds };
  }

  @Route({
    accepts: { agent: true },
    body: { kind: 'json', shape: publishSchedulesBody, codes: { entries: 'invalid_schedule' } },
    summary: 'Replace the schedules of the calling agent',
    responses: [{ status: 200, description: 'The number of entries.', schema: 'PublishedSchedules' }],
    errors: ['agent_not_found', 'invalid_schedule'],
  })
  @Put('schedules')
  publish(
    @Req() request: ApiRequest,
    @Body() body: PublishSchedulesBody,
  ): Promise<{ readonly entries: number }> {
    const { agentId } = agentIn(request);
    return this.requester.request(schedulesRequests.publish, {
      ...envelopeOf(request),
      agentId,
      entries: body.entries as Json,
    });
  }
}

const agentIn = (request: ApiRequest): AgentPrincipal => {
  const caller = callerOf(request);
  if (caller.kind !== 'agent') throw new Error(`A route for agents was called by ${caller.kind}.`);
  return caller;
};

import {
  agentsRequests,
  type AgentRef,
  type AgentView,
  type TransitionResult,
} from '@berth/contracts/agents';
import type { RequestDefinition } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Controller, Param, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AppUrls } from '../app-proxy/app-urls.js';
import { envelopeOf } from '../auth/caller.js';
import { agentOf } from './agent.resource.js';
import type { ErrorCode } from '../errors/error-codes.js';
import { Route, type RouteDeclaration } from '../http/route.decorator.js';
import type { ApiReply, ApiRequest } from '../http/fastify-types.js';

/** What starts agents is refused by suspensions and policies. */
const NOT_ADMITTED: readonly ErrorCode[] = [
  'end_user_suspended',
  'compute_cap_reached',
  'wake_limit_reached',
];

const transition = (
  summary: string,
  description: string,
  more: readonly ErrorCode[] = [],
): RouteDeclaration => ({
  accepts: { key: 'deploy' },
  resource: agentOf('agent_id'),
  summary,
  description: `${description} Idempotent. The body is ignored.`,
  responses: [
    { status: 200, description: 'The agent after the transition.', schema: 'Agent' },
    {
      status: 202,
      description: 'The transition continues; the agent in its current state.',
      schema: 'Agent',
    },
  ],
  errors: ['agent_not_found', ...more],
});

@ApiTags('Agents')
@Controller('api/agents/:agent_id')
export class AgentLifeController {
  constructor(
    private readonly requester: Requester,
    private readonly apps: AppUrls,
  ) {}

  @Route(transition('Start or wake an agent', 'Ends in `running`.', NOT_ADMITTED))
  @Post('start')
  start(
    @Req() request: ApiRequest,
    @Param('agent_id') agentId: string,
    @Res({ passthrough: true }) reply: ApiReply,
  ): Promise<AgentView> {
    return this.move(agentsRequests.start, request, agentId, reply);
  }

  @Route(transition('Stop an agent', 'Ends in `stopped`; only a start brings it back.'))
  @Post('stop')
  stop(
    @Req() request: ApiRequest,
    @Param('agent_id') agentId: string,
    @Res({ passthrough: true }) reply: ApiReply,
  ): Promise<AgentView> {
    return this.move(agentsRequests.stop, request, agentId, reply);
  }

  @Route(transition('Put an agent to sleep', 'Ends in `sleeping`, from any state; running executions fail.'))
  @Post('sleep')
  sleep(
    @Req() request: ApiRequest,
    @Param('agent_id') agentId: string,
    @Res({ passthrough: true }) reply: ApiReply,
  ): Promise<AgentView> {
    return this.move(agentsRequests.sleep, request, agentId, reply);
  }

  @Route(transition('Restart an agent', 'Ends in `running`.', NOT_ADMITTED))
  @Post('restart')
  restart(
    @Req() request: ApiRequest,
    @Param('agent_id') agentId: string,
    @Res({ passthrough: true }) reply: ApiReply,
  ): Promise<AgentView> {
    return this.move(agentsRequests.restart, request, agentId, reply);
  }

  private async move(
    definition: RequestDefinition<AgentRef, TransitionResult>,
    request: ApiRequest,
    agentId: string,
    reply: ApiReply,
  ): Promise<AgentView> {
    const { agent, settled } = await this.requester.request(definition, { ...envelopeOf(request), agentId });
    if (!settled) reply.code(202);
    return this.apps.shown(agent);
  }
}

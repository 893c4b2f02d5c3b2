import { schedulesRequests, type ScheduleView } from '@berth/contracts/schedules';
import { Requester } from '@berth/messaging';
import { Controller, Get, Param, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { agentOf } from '../agents/agent.resource.js';
import { callerOf } from '../auth/caller.js';
import { Route } from '../http/route.decorator.js';
import type { ApiRequest } from '../http/fastify-types.js';

@ApiTags('Schedules')
@Controller('api/agents/:agent_id/schedules')
export class SchedulesController {
  constructor(private readonly requester: Requester) {}

  @Route({
    accepts: { key: 'read' },
    resource: agentOf('agent_id'),
    summary: 'List the schedules of an agent',
    description:
      'The list that the agent published last, pushed or polled. Does not wake the agent. `lastError` is why the last firing failed; a failed firing is not repeated.',
    responses: [{ status: 200, description: 'All entries, in the order of the agent.', schema: 'Schedules' }],
    errors: ['agent_not_found'],
  })
  @Get()
  list(
    @Req() request: ApiRequest,
    @Param('agent_id') agentId: string,
  ): Promise<{ readonly items: readonly ScheduleView[] }> {
    const { accountId } = callerOf(request);
    return this.requester.request(schedulesRequests.list, { accountId, agentId });
  }
}

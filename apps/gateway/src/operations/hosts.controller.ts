import { agentsRequests, type HostView } from '@berth/contracts/agents';
import { pageQuery, type PageQuery } from '@berth/contracts/schema';
import type { Page } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Controller, Delete, Get, Param, Post, Query, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { envelopeOf } from '../auth/caller.js';
import type { ApiRequest } from '../http/fastify-types.js';
import { Route } from '../http/route.decorator.js';
import { hostOf } from './operations.resources.js';

@ApiTags('Operations')
@Controller('api/v1/operations/hosts')
export class HostsController {
  constructor(private readonly requester: Requester) {}

  @Route({
    accepts: { key: 'operate' },
    query: pageQuery,
    summary: 'List the hosts that run agents',
    description: 'Sorted by id, the oldest first. A host that was not seen for 30 s is `lost`.',
    responses: [{ status: 200, description: 'One page.', schema: 'HostPage' }],
  })
  @Get()
  list(@Query() { cursor, limit }: PageQuery): Promise<Page<HostView>> {
    return this.requester.request(agentsRequests.listHosts, { cursor: cursor ?? null, limit });
  }

  @Route({
    accepts: { key: 'operate' },
    resource: hostOf('id'),
    summary: 'Place no new agents on a host',
    description: 'Its agents stay there, and sleep and wake as before. Idempotent.',
    responses: [{ status: 202, description: 'The host gets no new agents.' }],
    errors: ['host_not_found'],
  })
  @Post(':id/drain')
  async drain(@Req() request: ApiRequest, @Param('id') hostId: string): Promise<void> {
    await this.requester.request(agentsRequests.drainHost, { ...envelopeOf(request), hostId });
  }

  @Route({
    accepts: { key: 'operate' },
    resource: hostOf('id'),
    summary: 'Place new agents on a drained host again',
    description: 'Idempotent.',
    responses: [{ status: 202, description: 'The host gets new agents.' }],
    errors: ['host_not_found'],
  })
  @Post(':id/resume')
  async resume(@Req() request: ApiRequest, @Param('id') hostId: string): Promise<void> {
    await this.requester.request(agentsRequests.resumeHost, { ...envelopeOf(request), hostId });
  }

  @Route({
    accepts: { key: 'operate' },
    resource: hostOf('id'),
    summary: 'Give up a lost host and its agents',
    description:
      'Its agents become `failed` with `host_removed`. If the host returns, it is refused and ends its agents. Cannot be undone.',
    responses: [{ status: 204, description: 'Removed.' }],
    errors: ['host_not_found', 'host_not_lost'],
  })
  @Delete(':id')
  async remove(@Req() request: ApiRequest, @Param('id') hostId: string): Promise<void> {
    await this.requester.request(agentsRequests.removeHost, { ...envelopeOf(request), hostId });
  }
}

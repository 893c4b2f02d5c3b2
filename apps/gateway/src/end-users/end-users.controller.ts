import { agentOwnersRequests, type AgentView, type EndUserSpend } from '@berth/contracts/agents';
import {
  endUsersRequests,
  listEndUsersQuery,
  putEndUserBody,
  type EndUserView,
  type ListEndUsersQuery,
  type PutEndUserBody,
} from '@berth/contracts/end-users';
import { isoTime, type Page } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Body, Controller, Delete, Get, Param, Post, Put, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AppUrls } from '../app-proxy/app-urls.js';
import { callerOf, envelopeOf } from '../auth/caller.js';
import type { ApiReply, ApiRequest } from '../http/fastify-types.js';
import { Route } from '../http/route.decorator.js';
import { parseIsoTime } from '../validation/iso-time.js';
import { agentsOfEndUser } from './agents-of-end-user.js';
import { endUser, endUserToBe } from './end-user.resource.js';

@ApiTags('End users')
@Controller('api/v1/end-users')
export class EndUsersController {
  constructor(
    private readonly requester: Requester,
    private readonly apps: AppUrls,
  ) {}

  @Route({
    accepts: { key: 'manage' },
    resource: endUserToBe,
    body: { kind: 'json', shape: putEndUserBody },
    summary: 'Create or update an end user',
    description: 'A member that is left out is kept; null clears it.',
    responses: [
      { status: 200, description: 'Updated.', schema: 'EndUser' },
      { status: 201, description: 'Created.', schema: 'EndUser' },
    ],
    errors: ['invalid_external_id'],
  })
  @Put(':external_id')
  async put(
    @Req() request: ApiRequest,
    @Param('external_id') externalId: string,
    @Body() { displayName, metadata, tags }: PutEndUserBody,
    @Res({ passthrough: true }) reply: ApiReply,
  ): Promise<EndUserView> {
    const { endUser: written, created } = await this.requester.request(endUsersRequests.put, {
      ...envelopeOf(request),
      externalId,
      ...(displayName === undefined ? {} : { displayName }),
      ...(metadata === undefined ? {} : { metadata }),
      ...(tags === undefined ? {} : { tags }),
    });
    if (created) reply.code(201);
    return written;
  }

  @Route({
    accepts: { key: 'read' },
    query: listEndUsersQuery,
    summary: 'List end users, newest first',
    responses: [{ status: 200, description: 'One page.', schema: 'EndUserPage' }],
  })
  @Get()
  list(@Req() request: ApiRequest, @Query() query: ListEndUsersQuery): Promise<Page<EndUserView>> {
    return this.requester.request(endUsersRequests.list, {
      accountId: callerOf(request).accountId,
      status: query.status ?? null,
      tag: query.tag ?? null,
      externalIdPrefix: query.externalIdPrefix ?? null,
      lastActiveBefore: isoTimeOrNull(query.lastActiveBefore),
      lastActiveAfter: isoTimeOrNull(query.lastActiveAfter),
      cursor: query.cursor ?? null,
      limit: query.limit,
    });
  }

  @Route({
    accepts: { key: 'read' },
    resource: endUser,
    summary: 'Get an end user with its agents, and what they have used in this month',
    responses: [{ status: 200, description: 'The end user.', schema: 'EndUserDetail' }],
    errors: ['end_user_not_found'],
  })
  @Get(':external_id')
  async get(
    @Req() request: ApiRequest,
    @Param('external_id') externalId: string,
  ): Promise<EndUserView & { readonly agents: readonly AgentView[]; readonly spend: EndUserSpend }> {
    const { accountId } = callerOf(request);
    const [found, agents, spend] = await Promise.all([
      this.requester.request(endUsersRequests.get, { accountId, externalId }),
      agentsOfEndUser(this.requester, accountId, externalId),
      this.spend(accountId, externalId),
    ]);
    const shown = await Promise.all(agents.map((agent) => this.apps.shown(agent)));
    return { ...found, agentCount: agents.length, agents: shown, spend };
  }

  private async spend(accountId: string, externalId: string): Promise<EndUserSpend> {
    const { endUserId } = await this.requester.request(endUsersRequests.identify, { accountId, externalId });
    return this.requester.request(agentOwnersRequests.spend, { accountId, endUserId });
  }

  @Route({
    accepts: { key: 'manage' },
    resource: endUser,
    summary: 'Suspend an end user',
    description:
      'Its agents go to sleep within 10 s, with what runs in them. Whatever would use or start them, and its tokens, are 403 `end_user_suspended`; reads, sleep, stop and delete work. Repeating it changes nothing.',
    responses: [{ status: 200, description: 'The end user, suspended.', schema: 'EndUser' }],
    errors: ['end_user_not_found'],
  })
  @Post(':external_id/suspend')
  suspend(@Req() request: ApiRequest, @Param('external_id') externalId: string): Promise<EndUserView> {
    return this.requester.request(endUsersRequests.suspend, { ...envelopeOf(request), externalId });
  }

  @Route({
    accepts: { key: 'manage' },
    resource: endUser,
    summary: 'Resume an end user',
    description: 'Its agents and tokens can be used again. Wakes no agent. Repeating it changes nothing.',
    responses: [{ status: 200, description: 'The end user, active.', schema: 'EndUser' }],
    errors: ['end_user_not_found'],
  })
  @Post(':external_id/resume')
  resume(@Req() request: ApiRequest, @Param('external_id') externalId: string): Promise<EndUserView> {
    return this.requester.request(endUsersRequests.resume, { ...envelopeOf(request), externalId });
  }

  @Route({
    accepts: { key: 'manage' },
    resource: endUser,
    summary: 'Delete an end user with its agents and tokens',
    description:
      'Destroys the key under which the event log holds its personal data. Its external id can be used again immediately.',
    responses: [{ status: 204, description: 'Deleted.' }],
    errors: ['end_user_not_found'],
  })
  @Delete(':external_id')
  async delete(@Req() request: ApiRequest, @Param('external_id') externalId: string): Promise<void> {
    await this.requester.request(endUsersRequests.delete, { ...envelopeOf(request), externalId });
  }
}

/** The same time in UTC. */
const isoTimeOrNull = (text: string | undefined): string | null => {
  const time = parseIsoTime(text);
  return time === undefined ? null : isoTime(time);
};

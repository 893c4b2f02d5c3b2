import { auditQuery, auditRequests, type AuditQuery, type AuditView } from '@berth/contracts/audit';
import { isoTime, type Page } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Controller, Get, Query, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { callerOf } from '../auth/caller.js';
import type { ApiRequest } from '../http/fastify-types.js';
import { Route } from '../http/route.decorator.js';
import { parseIsoTime } from '../validation/iso-time.js';
import { EndUsersOfAudit } from './end-users-of-audit.js';

@ApiTags('Audit')
@Controller('api/v1/audit')
export class AuditController {
  constructor(
    private readonly requester: Requester,
    private readonly endUsers: EndUsersOfAudit,
  ) {}

  @Route({
    accepts: { key: 'manage' },
    query: auditQuery,
    summary: 'List who did what in the account, newest first',
    description:
      'Taken from the event log and follows it within seconds. Filters combine. End users are named by their external ids. Contents and secrets never appear; a command appears as its size and SHA-256. Names and paths of the agents of an end user are null once it is deleted.',
    responses: [{ status: 200, description: 'One page.', schema: 'AuditPage' }],
  })
  @Get()
  async list(@Req() request: ApiRequest, @Query() query: AuditQuery): Promise<Page<AuditView>> {
    const { actor = null, resource = null, action, from, to, cursor, limit } = query;
    const { accountId } = callerOf(request);
    const { items, nextCursor } = await this.requester.request(auditRequests.list, {
      accountId,
      ...(await this.endUsers.idsOf(accountId, { actor, resource })),
      action: action ?? null,
      from: utc(from),
      to: utc(to),
      cursor: cursor ?? null,
      limit,
    });
    return { items: await this.endUsers.shown(accountId, items), nextCursor };
  }
}

const utc = (time: string | undefined): string | null => {
  const millis = parseIsoTime(time);
  return millis === undefined ? null : isoTime(millis);
};

import { auditQuery, auditRequests, type AuditQuery, type AuditView } from '@berth/contracts/audit';
import { isoTime, type Page } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Controller, Get, Query, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { callerOf } from '../auth/caller.js';
import type { ApiRequest } from '../http/fastify-types.js';
import { Route } from '../http/route.decorator.js';
import { parseIsoTime } from '../validation/iso-time.js';

@ApiTags('Audit')
@Controller('api/v1/audit')
export class AuditController {
  constructor(private readonly requester: Requester) {}

  @Route({
    accepts: { key: 'manage' },
    query: auditQuery,
    summary: 'List who did what in the account, newest first',
    description:
      'Taken from the event log and follows it within seconds. Filters combine. Contents and secrets never appear; a command appears as its size and SHA-256.',
    responses: [{ status: 200, description: 'One page.', schema: 'AuditPage' }],
  })
  @Get()
  list(@Req() request: ApiRequest, @Query() query: AuditQuery): Promise<Page<AuditView>> {
    const { actor, resource, action, from, to, cursor, limit } = query;
    return this.requester.request(auditRequests.list, {
      accountId: callerOf(request).accountId,
      actor: actor ?? null,
      resource: resource ?? null,
      action: action ?? null,
      from: utc(from),
      to: utc(to),
      cursor: cursor ?? null,
      limit,
    });
  }
}

const utc = (time: string | undefined): string | null => {
  const millis = parseIsoTime(time);
  return millis === undefined ? null : isoTime(millis);
};

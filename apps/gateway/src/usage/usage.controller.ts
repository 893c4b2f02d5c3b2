import { billingRequests, usageQuery, type GetUsage, type UsageQuery } from '@berth/contracts/billing';
import { Requester } from '@berth/messaging';
import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { callerOf } from '../auth/caller.js';
import type { ApiReply, ApiRequest } from '../http/fastify-types.js';
import { Route } from '../http/route.decorator.js';
import { DAILY_USAGE_COLUMNS, USAGE_COLUMNS } from './usage-columns.js';
import { CSV, sendUsage, USAGE_RANGE, utc } from './usage-response.js';

@ApiTags('Usage')
@Controller('api/v1/usage')
export class UsageController {
  constructor(private readonly requester: Requester) {}

  @Route({
    accepts: { key: 'read' },
    query: usageQuery,
    summary: 'Usage and cost of each agent',
    description: `One row for every agent that existed in the range, deleted ones included, by agent id. ${USAGE_RANGE}`,
    responses: [{ status: 200, description: 'One page.', schema: 'UsageReport', alsoAs: CSV }],
  })
  @Get()
  async total(@Req() request: ApiRequest, @Query() query: UsageQuery, @Res() reply: ApiReply): Promise<void> {
    const report = await this.requester.request(billingRequests.usage, toGetUsage(request, query));
    await sendUsage(request, reply, report, USAGE_COLUMNS);
  }

  @Route({
    accepts: { key: 'read' },
    query: usageQuery,
    summary: 'Usage and cost of each agent and day',
    description: `One row for every day and agent that existed on it, by date and agent id. ${USAGE_RANGE}`,
    responses: [{ status: 200, description: 'One page.', schema: 'DailyUsageReport', alsoAs: CSV }],
  })
  @Get('daily')
  async daily(@Req() request: ApiRequest, @Query() query: UsageQuery, @Res() reply: ApiReply): Promise<void> {
    const report = await this.requester.request(billingRequests.dailyUsage, toGetUsage(request, query));
    await sendUsage(request, reply, report, DAILY_USAGE_COLUMNS);
  }
}

const toGetUsage = (request: ApiRequest, query: UsageQuery): GetUsage => ({
  accountId: callerOf(request).accountId,
  from: utc(query.from),
  to: utc(query.to),
  externalUserId: query.externalUserId ?? null,
  agentId: query.agentId ?? null,
  cursor: query.cursor ?? null,
  limit: query.limit,
});

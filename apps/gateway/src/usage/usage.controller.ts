import {
  billingRequests,
  MAX_USAGE_DAYS,
  usageQuery,
  type GetUsage,
  type UsageQuery,
  type UsageReport,
} from '@berth/contracts/billing';
import { isoTime } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { callerOf } from '../auth/caller.js';
import type { ApiReply, ApiRequest } from '../http/fastify-types.js';
import { Route } from '../http/route.decorator.js';
import { parseIsoTime } from '../validation/iso-time.js';
import { toCsv } from './csv.js';
import { prefersCsv } from './prefers-csv.js';
import { DAILY_USAGE_COLUMNS, USAGE_COLUMNS } from './usage-columns.js';

const CSV = 'text/csv';

const DESCRIPTION = `The range is whole days in UTC, at most ${MAX_USAGE_DAYS}. \`totals\` are of the whole range. Usage in progress is counted up to \`asOf\`. With \`Accept: text/csv\` the same rows are CSV, and the next page, if there is one, is in the header \`Link\`.`;

@ApiTags('Usage')
@Controller('api/v1/usage')
export class UsageController {
  constructor(private readonly requester: Requester) {}

  @Route({
    accepts: { key: 'read' },
    query: usageQuery,
    summary: 'Usage and cost of each agent',
    description: `One row for every agent that existed in the range, deleted ones included, by agent id. ${DESCRIPTION}`,
    responses: [{ status: 200, description: 'One page.', schema: 'UsageReport', alsoAs: CSV }],
  })
  @Get()
  async total(@Req() request: ApiRequest, @Query() query: UsageQuery, @Res() reply: ApiReply): Promise<void> {
    const report = await this.requester.request(billingRequests.usage, toGetUsage(request, query));
    await send(request, reply, report, USAGE_COLUMNS);
  }

  @Route({
    accepts: { key: 'read' },
    query: usageQuery,
    summary: 'Usage and cost of each agent and day',
    description: `One row for every day and agent that existed on it, by date and agent id. ${DESCRIPTION}`,
    responses: [{ status: 200, description: 'One page.', schema: 'DailyUsageReport', alsoAs: CSV }],
  })
  @Get('daily')
  async daily(@Req() request: ApiRequest, @Query() query: UsageQuery, @Res() reply: ApiReply): Promise<void> {
    const report = await this.requester.request(billingRequests.dailyUsage, toGetUsage(request, query));
    await send(request, reply, report, DAILY_USAGE_COLUMNS);
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

const utc = (time: string | undefined): string | null => {
  const millis = parseIsoTime(time);
  return millis === undefined ? null : isoTime(millis);
};

const send = async (
  request: ApiRequest,
  reply: ApiReply,
  report: UsageReport,
  columns: readonly string[],
): Promise<void> => {
  reply.header('vary', 'Accept');
  if (!prefersCsv(request.headers.accept)) {
    await reply.send(report);
    return;
  }
  if (report.nextCursor !== null) reply.header('link', `<${nextPage(request, report)}>; rel="next"`);
  await reply.type(`${CSV}; charset=utf-8; header=present`).send(toCsv(columns, report.rows));
};

/** The range is part of the link: that of a request without one moves on. */
const nextPage = ({ url }: ApiRequest, { from, to, nextCursor }: UsageReport): string => {
  const next = new URL(url, 'http://localhost');
  next.searchParams.set('from', from);
  next.searchParams.set('to', to);
  next.searchParams.set('cursor', nextCursor ?? '');
  return `${next.pathname}${next.search}`;
};

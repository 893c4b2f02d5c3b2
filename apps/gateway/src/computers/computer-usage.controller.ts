import { billingRequests } from '@berth/contracts/billing';
import { computerUsageQuery, type ComputerUsageQuery } from '@berth/contracts/computers';
import { Requester } from '@berth/messaging';
import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { callerOf } from '../auth/caller.js';
import type { ApiReply, ApiRequest } from '../http/fastify-types.js';
import { Route } from '../http/route.decorator.js';
import { COMPUTER_USAGE_COLUMNS } from '../usage/usage-columns.js';
import { CSV, sendUsage, USAGE_RANGE, utc } from '../usage/usage-response.js';

@ApiTags('Computers')
@Controller('api/v1/computers/usage')
export class ComputerUsageController {
  constructor(private readonly requester: Requester) {}

  @Route({
    accepts: { key: 'computers' },
    query: computerUsageQuery,
    summary: 'Usage and cost of each computer',
    description: `One row for every computer that existed in the range, deleted ones included, by computer id. ${USAGE_RANGE}`,
    responses: [{ status: 200, description: 'One page.', schema: 'ComputerUsageReport', alsoAs: CSV }],
  })
  @Get()
  async usage(
    @Req() request: ApiRequest,
    @Query() query: ComputerUsageQuery,
    @Res() reply: ApiReply,
  ): Promise<void> {
    const report = await this.requester.request(billingRequests.computerUsage, {
      accountId: callerOf(request).accountId,
      from: utc(query.from),
      to: utc(query.to),
      externalUserId: query.externalUserId ?? null,
      computerId: query.computerId ?? null,
      cursor: query.cursor ?? null,
      limit: query.limit,
    });
    await sendUsage(request, reply, report, COMPUTER_USAGE_COLUMNS);
  }
}

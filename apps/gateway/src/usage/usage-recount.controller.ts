import {
  billingRequests,
  usageRecountQuery,
  type UsageRecountQuery,
  type UsageVerification,
} from '@berth/contracts/billing';
import { isoTime } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Route } from '../http/route.decorator.js';
import { parseIsoTime } from '../validation/iso-time.js';

@ApiTags('Operations')
@Controller('api/v1/operations/usage-recount')
export class UsageRecountController {
  constructor(private readonly requester: Requester) {}

  @Route({
    accepts: { key: 'operate' },
    query: usageRecountQuery,
    summary: 'Count the usage of all accounts again and compare',
    description:
      'Reads the whole event log and counts usage by code of its own, then compares every row. The range is as for usage. A difference is a defect; report it.',
    responses: [{ status: 200, description: 'The differences, if any.', schema: 'UsageRecount' }],
  })
  @Get()
  verify(@Query() { from, to }: UsageRecountQuery): Promise<UsageVerification> {
    return this.requester.request(billingRequests.verify, { from: utc(from), to: utc(to) });
  }
}

const utc = (time: string | undefined): string | null => {
  const millis = parseIsoTime(time);
  return millis === undefined ? null : isoTime(millis);
};

import {
  feedbackBody,
  feedbackRequests,
  type FeedbackBody,
  type FeedbackView,
} from '@berth/contracts/accounts';
import { pageQuery, type PageQuery } from '@berth/contracts/schema';
import type { Page } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Body, Controller, Get, Post, Query, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { envelopeOf, keyHolderOf } from '../auth/caller.js';
import type { ApiRequest } from '../http/fastify-types.js';
import { Route } from '../http/route.decorator.js';

@ApiTags('Feedback')
@Controller('api/v1/feedback')
export class FeedbackController {
  constructor(private readonly requester: Requester) {}

  @Route({
    accepts: { key: 'read' },
    body: { kind: 'json', shape: feedbackBody },
    summary: 'Report something about this API',
    description: 'At most 5 reports a minute and 20 in 24 h for each account.',
    responses: [{ status: 202, description: 'The report, as it is stored.', schema: 'Feedback' }],
    errors: ['rate_limited'],
  })
  @Post()
  report(@Req() request: ApiRequest, @Body() body: FeedbackBody): Promise<FeedbackView> {
    const { kind, message, subject = null, tool = null, requestId = null, statusCode = null } = body;
    const { keyId } = keyHolderOf(request);
    const report = { kind, message, subject, tool, requestId, statusCode, keyId };
    return this.requester.request(feedbackRequests.report, { ...envelopeOf(request), ...report });
  }
}

@ApiTags('Operations')
@Controller('api/v1/operations/feedback')
export class FeedbackOperationsController {
  constructor(private readonly requester: Requester) {}

  @Route({
    accepts: { key: 'operate' },
    query: pageQuery,
    summary: 'List the reports of all accounts, newest first',
    responses: [{ status: 200, description: 'One page.', schema: 'FeedbackPage' }],
  })
  @Get()
  list(@Query() { cursor, limit }: PageQuery): Promise<Page<FeedbackView>> {
    return this.requester.request(feedbackRequests.list, { cursor: cursor ?? null, limit });
  }
}

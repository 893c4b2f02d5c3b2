import { feedbackRequests, type FeedbackView, type ReportFeedback } from '@berth/contracts/accounts';
import type { PageRequest } from '@berth/contracts/schema';
import type { Page } from '@berth/kernel';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { FeedbackListQuery } from './feedback-list.query.js';
import { FeedbackCommandHandler } from './feedback.command-handler.js';

@Controller()
export class FeedbackNatsController {
  constructor(
    private readonly reports: FeedbackCommandHandler,
    private readonly reportList: FeedbackListQuery,
  ) {}

  @HandleRequest(feedbackRequests.report)
  report(request: ReportFeedback): Promise<FeedbackView> {
    return this.reports.handle(request);
  }

  @HandleRequest(feedbackRequests.list)
  list(request: PageRequest): Promise<Page<FeedbackView>> {
    return this.reportList.list(request);
  }
}

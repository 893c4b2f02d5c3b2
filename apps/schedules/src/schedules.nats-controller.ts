import {
  schedulesRequests,
  type ListSchedules,
  type PublishSchedules,
  type ReportPolledSchedules,
  type ScheduleView,
} from '@berth/contracts/schedules';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { ScheduleListQuery } from './list/schedule-list.query.js';
import { PublishCommandHandler } from './publish/publish.command-handler.js';

@Controller()
export class SchedulesNatsController {
  constructor(
    private readonly lists: PublishCommandHandler,
    private readonly query: ScheduleListQuery,
  ) {}

  @HandleRequest(schedulesRequests.publish)
  publish(request: PublishSchedules): Promise<{ readonly entries: number }> {
    return this.lists.push(request);
  }

  @HandleRequest(schedulesRequests.reportPolled)
  reportPolled(report: ReportPolledSchedules): Promise<{ readonly problem: string | null }> {
    return this.lists.poll(report);
  }

  @HandleRequest(schedulesRequests.list)
  list(request: ListSchedules): Promise<{ readonly items: readonly ScheduleView[] }> {
    return this.query.run(request);
  }
}

import type { AnnounceHost, HostOrders, ReportActivity, ReportObservation } from '@berth/contracts/agents';
import { computersRequests } from '@berth/contracts/computers';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { ComputerActivity } from '../computer-list/computer-activity.js';
import { AnnounceHostHandler } from './announce-host.js';
import { ObservationHandler } from './report-observation.js';

/** Reports of runtime hosts. */
@Controller()
export class HostNatsController {
  constructor(
    private readonly announcements: AnnounceHostHandler,
    private readonly observations: ObservationHandler,
    private readonly activities: ComputerActivity,
  ) {}

  @HandleRequest(computersRequests.announceHost)
  announce(request: AnnounceHost): Promise<HostOrders> {
    return this.announcements.handle(request);
  }

  @HandleRequest(computersRequests.reportObservation)
  async observe(request: ReportObservation): Promise<Record<string, never>> {
    await this.observations.observe(request);
    return {};
  }

  @HandleRequest(computersRequests.reportActivity)
  async activity(request: ReportActivity): Promise<Record<string, never>> {
    await this.activities.report(request);
    return {};
  }
}

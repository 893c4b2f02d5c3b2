import { Inject, Injectable } from '@nestjs/common';
import type { Activities, Observations, PollsOfSchedules } from '../agent/hosted-agent-deps.js';
import { SchedulePolls } from '../schedules/schedule-polls.js';
import { ActivityReporter } from './activity-reporter.js';
import { ObservationReporter } from './observation-reporter.js';

/** Where the agents of this host report what happens to them. */
@Injectable()
export class AgentReports {
  constructor(
    @Inject(ObservationReporter) readonly observations: Observations,
    @Inject(ActivityReporter) readonly activities: Activities,
    @Inject(SchedulePolls) readonly polls: PollsOfSchedules,
  ) {}
}

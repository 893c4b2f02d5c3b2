import { nextWakeRequests } from '@berth/contracts/agents';
import type { Handled, ProjectionRunner } from '@berth/event-store';
import { Requester } from '@berth/messaging';
import { InjectProjection } from '@berth/service';
import { Logger } from '@berth/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import { dueListProjection } from '../due-list/due-list.projection.js';
import { earliest, type ScheduleEvent, type Schedules } from '../schedule/schedule.js';

/** Tells `agents` when an agent wakes next, so that its caller's next read shows it. */
@Injectable()
export class NextWakes {
  constructor(
    @InjectProjection(dueListProjection) private readonly dueList: Pick<ProjectionRunner, 'waitFor'>,
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
    private readonly log: Logger,
  ) {}

  /** If `agents` cannot be reached, the event has the same effect as soon as it can be. */
  async tell(agentId: string, { state, position }: Handled<Schedules, ScheduleEvent>): Promise<void> {
    if (position === null) return;
    const note = { agentId, nextWakeAt: earliest(state.entries), position: position.toString() };
    const [told] = await Promise.allSettled([
      this.requester.request(nextWakeRequests.note, note),
      this.dueList.waitFor(position),
    ]);
    if (told.status === 'rejected')
      this.log.warn({ agentId, err: told.reason as unknown }, 'the next wake of an agent is shown later');
  }
}

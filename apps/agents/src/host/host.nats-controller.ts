import {
  agentsRequests,
  type AnnounceHost,
  type ReportActivity,
  type ReportObservation,
} from '@berth/contracts-agents';
import type { EventStore } from '@berth/event-store';
import { HandleRequest } from '@berth/messaging';
import { Database } from '@berth/persistence';
import { Controller, Inject } from '@nestjs/common';
import { AgentActivity } from '../agent-list/agent-activity.js';
import { EVENT_STORE } from '../tokens.js';
import { AnnounceHostHandler } from './announce-host.js';
import { ObservationHandler } from './report-observation.js';

/** What runtime hosts tell, and whether this service has what it stands on. */
@Controller()
export class HostNatsController {
  constructor(
    private readonly announcements: AnnounceHostHandler,
    private readonly observations: ObservationHandler,
    private readonly activities: AgentActivity,
    private readonly database: Database,
    @Inject(EVENT_STORE) private readonly store: EventStore,
  ) {}

  @HandleRequest(agentsRequests.announceHost)
  announce(request: AnnounceHost): Promise<{ remove: readonly string[]; stop: readonly string[] }> {
    return this.announcements.handle(request);
  }

  @HandleRequest(agentsRequests.reportObservation)
  async observe(request: ReportObservation): Promise<Record<string, never>> {
    await this.observations.observe(request);
    return {};
  }

  @HandleRequest(agentsRequests.reportActivity)
  async activity(request: ReportActivity): Promise<Record<string, never>> {
    await this.activities.report(request.items);
    return {};
  }

  @HandleRequest(agentsRequests.health)
  async health(): Promise<{ eventStore: boolean; postgres: boolean }> {
    const [eventStore, postgres] = await Promise.all([
      answers(this.store.ping()),
      answers(this.database.ping()),
    ]);
    return { eventStore, postgres };
  }
}

const answers = (ping: Promise<void>): Promise<boolean> =>
  ping.then(
    () => true,
    () => false,
  );

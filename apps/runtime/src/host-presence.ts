import { NatsLink } from '@berth/messaging';
import { ServiceContext } from '@berth/service';
import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { HostedAgents } from './agent/hosted-agents.js';
import { AgentLogs } from './logs/agent-logs.js';
import { HostAnnouncer } from './report/host-announcer.js';
import { ObservationReporter } from './report/observation-reporter.js';

const SHUTDOWN_GRACE_MS = 2_000;
const REPORT_WITHIN_MS = 1_000;

/**
 * Announces this host while the service handles requests. When the service stops, ends the agents first (TERM, 2 s, KILL)
 * and reports that to `agents`; that takes at most about 5 s, or 25 s with many containers or disks that are not released.
 */
@Injectable()
export class HostPresence implements OnApplicationBootstrap, BeforeApplicationShutdown {
  #announcing: Promise<void> | undefined;
  #shutdownReport: Promise<void> | undefined;

  constructor(
    private readonly agents: HostedAgents,
    private readonly logs: AgentLogs,
    private readonly announcer: HostAnnouncer,
    private readonly observations: ObservationReporter,
    private readonly link: NatsLink,
    private readonly context: ServiceContext,
  ) {}

  onApplicationBootstrap(): void {
    this.context.afterStart(() => {
      this.#announcing = this.announcer.run(this.link, this.context.stopping);
      this.context.beforeStop(() => this.endAgents());
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([this.#announcing, this.#shutdownReport]);
  }

  private async endAgents(): Promise<void> {
    this.logs.close();
    const ended = await this.agents.shutDown(SHUTDOWN_GRACE_MS);
    this.#shutdownReport = this.observations.reportShutdown(ended, REPORT_WITHIN_MS);
  }
}

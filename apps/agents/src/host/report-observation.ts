import { detach } from '@berth/kernel';
import type { ReportObservation } from '@berth/contracts/hosting';
import { Injectable } from '@nestjs/common';
import { AgentCommandHandler, systemOrigin } from '../agent/agent.command-handler.js';
import type { AgentCommand } from '../agent/agent.commands.js';
import { AgentLifecycle } from '../agent/agent-lifecycle.js';

/** Turns the observations of hosts into commands; those of an old epoch, or about an agent of another host, have no effect. */
@Injectable()
export class ObservationHandler {
  constructor(
    private readonly agents: AgentCommandHandler,
    private readonly lifecycle: AgentLifecycle,
  ) {}

  async observe(report: ReportObservation): Promise<void> {
    const { host, agentId, epoch, observation } = report;
    const agent = await this.agents.load(agentId);
    if (agent.status !== 'live' || agent.host !== host) return;
    const origin = systemOrigin(
      agent.profile.accountId,
      `${agentId}/${String(epoch)}/${agent.since}/${observation.type}`,
    );
    await this.agents.handle(agentId, toCommand(report), origin);
    // A recovery continues in the background.
    detach(this.lifecycle.drive(agentId));
  }
}

const toCommand = ({ epoch, observation }: ReportObservation): AgentCommand => {
  const at = new Date().toISOString();
  switch (observation.type) {
    case 'asleep':
      return { type: 'FallAsleep', epoch, depth: observation.depth, reason: observation.reason, at };
    case 'exited':
      return { type: 'ReportCrash', epoch, message: observation.message, at };
    case 'out_of_memory':
      return { type: 'ReportOutOfMemory', epoch, message: observation.message, at };
    case 'crash_loop':
      return { type: 'ReportCrashLoop', epoch, message: observation.message, at };
  }
};

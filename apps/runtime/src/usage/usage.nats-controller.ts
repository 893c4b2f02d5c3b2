import { runtimeRequests, type AgentUsage } from '@berth/contracts/runtime';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { HostedAgents } from '../agent/hosted-agents.js';
import { Driver } from '../driver/driver.js';

/** What agents use. */
@Controller()
export class UsageNatsController {
  constructor(
    private readonly driver: Driver,
    private readonly agents: HostedAgents,
  ) {}

  @HandleRequest(runtimeRequests.usage)
  async usage({ agentId }: { readonly agentId: string }): Promise<AgentUsage> {
    const { startedAt } = this.agents.of(agentId).current;
    const [stats, diskBytes] = await Promise.all([
      startedAt === null ? null : this.driver.stats(agentId),
      this.driver.volumeBytes(agentId),
    ]);
    return {
      memBytes: stats?.memoryBytes ?? null,
      cpuSeconds: stats?.cpuSeconds ?? null,
      processes: stats?.processes ?? null,
      diskBytes,
      startedAt: stats === null ? null : startedAt,
    };
  }
}

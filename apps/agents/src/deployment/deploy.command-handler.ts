import type { AcceptedDeployment, Deploy } from '@berth/contracts/agents';
import { deriveId, detach, stepOf } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { AgentsFromLog } from '../agent-list/agents-from-log.js';
import { AgentCommandHandler } from '../agent/agent.command-handler.js';
import { ofAccount } from '../agent/ensure-awake.js';
import { DeploymentListQuery } from '../deployment-list/deployment-list.query.js';
import { DeploymentProgress } from './deployment-progress.js';
import { DeploymentCommandHandler } from './deployment.command-handler.js';
import { RequestedOrigins } from './requested-origins.js';

/** Accepts deployments; everything after that happens in the background. */
@Injectable()
export class DeployCommandHandler {
  constructor(
    private readonly agents: AgentCommandHandler,
    private readonly fromLog: AgentsFromLog,
    private readonly deployments: DeploymentCommandHandler,
    private readonly list: DeploymentListQuery,
    private readonly origins: RequestedOrigins,
    private readonly progress: DeploymentProgress,
  ) {}

  /** Errors: see `agentsRequests`. */
  async deploy(request: Deploy): Promise<AcceptedDeployment> {
    const { agentId, accountId, commandId } = request;
    const agent = ofAccount(await this.agents.load(agentId), accountId);
    const deploymentId = deriveId('dep', commandId);
    const known = await this.deployments.load(deploymentId);
    if (known.stage === 'absent') {
      const origin = await this.origins.of(request, agent);
      const at = new Date().toISOString();
      const command = { type: 'Request', deploymentId, agentId, accountId, origin, at } as const;
      await this.deployments.handle(deploymentId, command, request);
    }
    await this.supersedeBefore(request, deploymentId);
    detach(this.progress.drive(agentId));
    return { deploymentId, agent: await this.fromLog.view(accountId, agentId) };
  }

  /** Ends the agent's earlier deployments that still wait for their build. */
  private async supersedeBefore(request: Deploy, deploymentId: string): Promise<void> {
    for (const earlier of await this.list.unfinishedOf(request.agentId)) {
      if (earlier >= deploymentId) continue;
      const at = new Date().toISOString();
      await this.deployments.handle(earlier, { type: 'Supersede', at }, stepOf(request, 'supersede'));
    }
  }
}

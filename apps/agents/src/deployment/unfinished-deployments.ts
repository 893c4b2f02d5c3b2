import { Injectable } from '@nestjs/common';
import { systemOrigin, type CommandOrigin } from '../agent/agent.command-handler.js';
import { DeploymentListQuery } from '../deployment-list/deployment-list.query.js';
import { DeploymentCommandHandler } from './deployment.command-handler.js';
import type { DeploymentCommand } from './deployment.decider.js';
import type { Deployment } from './deployment.js';

export type Unfinished = Extract<Deployment, { readonly stage: 'queued' | 'building' | 'built' }>;

/** The unfinished deployments of agents, as the log has them. */
@Injectable()
export class UnfinishedDeployments {
  constructor(
    private readonly list: DeploymentListQuery,
    private readonly deployments: DeploymentCommandHandler,
  ) {}

  /** The one in progress; if there is none, the newest, which supersedes the others. null without any. */
  async current(agentId: string): Promise<Unfinished | null> {
    const unfinished: Unfinished[] = [];
    for (const id of await this.list.unfinishedOf(agentId)) {
      const deployment = await this.deployments.load(id);
      if (isUnfinished(deployment)) unfinished.push(deployment);
    }
    const begun = unfinished.find(({ stage }) => stage !== 'queued');
    if (begun !== undefined) return begun;
    for (const { deploymentId, accountId } of unfinished.slice(0, -1)) {
      const command = { type: 'Supersede', at: new Date().toISOString() } as const;
      await this.decide(deploymentId, command, systemOrigin(accountId, `${deploymentId}/Supersede`));
    }
    return unfinished.at(-1) ?? null;
  }

  decide(deploymentId: string, command: DeploymentCommand, origin: CommandOrigin): Promise<Deployment> {
    return this.deployments.handle(deploymentId, command, origin);
  }
}

const isUnfinished = (deployment: Deployment): deployment is Unfinished =>
  deployment.stage === 'queued' || deployment.stage === 'building' || deployment.stage === 'built';

import { Injectable } from '@nestjs/common';
import { AgentCommandHandler, systemOrigin } from '../agent/agent.command-handler.js';
import { AgentLifecycle } from '../agent/agent-lifecycle.js';
import type { Agent } from '../agent/agent.js';
import type { AgentSource } from '../agent/agent-source.js';
import type { BuiltVersion } from '../agent/agent.commands.js';
import type { DeploymentCommand } from './deployment.decider.js';
import type { Unfinished } from './unfinished-deployments.js';

type Built = Extract<Unfinished, { readonly stage: 'built' }>;

/** Gives a built version to its agent, and determines whether it runs there. */
@Injectable()
export class VersionRollout {
  constructor(
    private readonly agents: AgentCommandHandler,
    private readonly lifecycle: AgentLifecycle,
  ) {}

  /** Returns how the deployment ends; null while the version is starting. */
  async settle(deployment: Built): Promise<DeploymentCommand | null> {
    const { agentId, deploymentId, accountId } = deployment;
    const command = { type: 'PrepareVersion', built: versionOf(deployment), at: now() } as const;
    await this.agents.handle(agentId, command, systemOrigin(accountId, `${deploymentId}/version`));
    await this.lifecycle.drive(agentId);
    return outcomeFor(deploymentId, await this.agents.load(agentId));
  }
}

const versionOf = ({ deploymentId, origin, code }: Built): BuiltVersion => {
  if ('image' in code) return { kind: 'image', deploymentId, image: code.image };
  if (origin.kind !== 'git') throw new Error('An image was built like a repository.');
  return { kind: 'git', deploymentId, repoUrl: origin.repoUrl, ...code };
};

const outcomeFor = (deploymentId: string, agent: Agent): DeploymentCommand | null => {
  if (agent.status !== 'live') return null;
  const { source, versions, life } = agent;
  if (isOf(deploymentId, source)) return { type: 'Succeed', at: now() };
  const fail = (message: string) =>
    ({ type: 'Fail', code: 'version_did_not_start', message, at: now() }) as const;
  if (life.state === 'failed' && life.code === 'host_removed') return fail(life.message);
  if (isOf(deploymentId, versions.next)) return null;
  const { abandoned } = versions;
  return fail(abandoned?.deploymentId === deploymentId ? abandoned.message : 'The version did not start.');
};

const isOf = (deploymentId: string, source: AgentSource | null): boolean =>
  source !== null && source.kind !== 'template' && source.deploymentId === deploymentId;

const now = (): string => new Date().toISOString();

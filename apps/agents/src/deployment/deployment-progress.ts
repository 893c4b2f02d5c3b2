import { runtimeRequests, type BuildOrigin, type BuildState } from '@berth/contracts/runtime';
import { isDomainError } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { ServiceContext } from '@berth/service';
import { pause } from '@berth/supervision';
import { Inject, Injectable } from '@nestjs/common';
import { AgentCommandHandler, systemOrigin } from '../agent/agent.command-handler.js';
import type { LiveAgent } from '../agent/agent.js';
import { deploymentsInUse } from '../agent/agent-versions.js';
import { BuildSecrets } from './build-secrets.js';
import { UnfinishedDeployments, type Unfinished } from './unfinished-deployments.js';
import { VersionRollout } from './version-rollout.js';
import { builtCode, type Origin } from './deployment.js';
import type { DeploymentCommand } from './deployment.decider.js';

/** If a host has not been reached for this long after a build began on it, the build counts as lost with its host. */
const GIVEN_UP_AFTER_MS = 1_200_000;
const RETRY_MS = 500;

type Building = Extract<Unfinished, { readonly stage: 'queued' | 'building' }>;

/**
 * Drives the deployments that are unfinished according to the log: for each agent one at a time, first the one in
 * progress, then the newest. A host builds each deployment once, so several processes may drive the same deployment, and
 * a process may drive it again after a crash.
 */
@Injectable()
export class DeploymentProgress {
  private readonly underWay = new Map<string, Promise<void>>();

  constructor(
    private readonly unfinished: UnfinishedDeployments,
    private readonly agents: AgentCommandHandler,
    private readonly rollout: VersionRollout,
    private readonly secrets: BuildSecrets,
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
    private readonly context: ServiceContext,
  ) {}

  /** Returns when the agent has no unfinished deployment, or when one cannot continue. Concurrent calls share one run. */
  drive(agentId: string): Promise<void> {
    const running = this.underWay.get(agentId);
    if (running !== undefined) return running;
    const drive = this.driveAll(agentId).finally(() => this.underWay.delete(agentId));
    this.underWay.set(agentId, drive);
    return drive;
  }

  private async driveAll(agentId: string): Promise<void> {
    const { stopping, log } = this.context;
    try {
      while (!stopping.aborted) {
        const current = await this.unfinished.current(agentId);
        if (current === null) return;
        await this.step(current);
      }
    } catch (error) {
      // The timer tries again.
      if (!stopping.aborted) log.warn({ agentId, err: error }, 'could not continue a deployment');
    }
  }

  private async step(deployment: Unfinished): Promise<void> {
    const agent = await this.agents.load(deployment.agentId);
    if (agent.status !== 'live') {
      const message = 'The agent was deleted.';
      await this.decide(deployment, { type: 'Fail', code: 'agent_deleted', message, at: now() });
    } else if (deployment.stage === 'built') {
      const outcome = await this.rollout.settle(deployment);
      if (outcome === null) await pause(RETRY_MS, this.context.stopping);
      else await this.decide(deployment, outcome);
    } else await this.build(deployment, agent);
  }

  private async build(deployment: Building, agent: LiveAgent): Promise<void> {
    const { agentId, deploymentId } = deployment;
    const host = agent.host ?? '';
    const state = await this.stateOfBuild(deployment, agent);
    const command = commandFor(state, host);
    if (command === null) return;
    const decided = await this.decide(deployment, command);
    if (decided.stage === 'failed' && state.state !== 'failed')
      await this.requester.request(runtimeRequests.cancelBuild, { agentId, deploymentId }, { host });
  }

  private async stateOfBuild(deployment: Building, agent: LiveAgent): Promise<BuildState> {
    const { agentId, deploymentId, origin, stage } = deployment;
    const opened = await this.open(agentId, origin);
    if (opened === null)
      return { state: 'failed', code: 'clone_failed', message: 'The variable that tokenEnv names is gone.' };
    const request = {
      agentId,
      deploymentId,
      origin: opened,
      templateId: agent.profile.templateId,
      resources: agent.profile.resources,
      keep: deploymentsInUse(agent),
      seen: stage === 'queued' ? 'waiting' : 'building',
    } as const;
    try {
      return await this.requester.request(runtimeRequests.build, request, { host: agent.host ?? '' });
    } catch (error) {
      const since = stage === 'building' ? Date.parse(deployment.since) : Date.now();
      if (!isDomainError(error, 'unavailable') || Date.now() - since < GIVEN_UP_AFTER_MS) throw error;
      return { state: 'failed', code: 'interrupted', message: 'The host of the agent is gone.' };
    }
  }

  /** The origin with its secret; null if the secret is gone. */
  private async open(agentId: string, origin: Origin): Promise<BuildOrigin | null> {
    if (origin.kind === 'image') return origin;
    const { tokenEnv, ...git } = origin;
    if (tokenEnv === null) return { ...git, token: null };
    const token = await this.secrets.open(agentId, tokenEnv);
    return token === null ? null : { ...git, token };
  }

  private async decide(deployment: Unfinished, command: DeploymentCommand) {
    const { accountId, deploymentId } = deployment;
    return this.unfinished.decide(
      deploymentId,
      command,
      systemOrigin(accountId, `${deploymentId}/${command.type}`),
    );
  }
}

const commandFor = (state: BuildState, host: string): DeploymentCommand | null => {
  switch (state.state) {
    case 'waiting':
      return null;
    case 'building':
      return { type: 'BeginBuild', host, at: now() };
    case 'built':
      return { type: 'FinishBuild', code: builtCode(state), at: now() };
    case 'failed':
      return { type: 'Fail', code: state.code, message: state.message, at: now() };
  }
};

const now = (): string => new Date().toISOString();

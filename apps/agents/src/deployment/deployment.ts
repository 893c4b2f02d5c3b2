import type { DeploymentFailure } from '@berth/contracts/agents';

/** Where the code of a deployment comes from. `addresses` are those that the URL's host had when it was accepted. */
export type GitOrigin = {
  readonly kind: 'git';
  readonly repoUrl: string;
  readonly addresses: readonly string[];
  /** null: the one that HEAD of the repository names. */
  readonly branch: string | null;
  /** The variable of the agent that holds the password of the clone. */
  readonly tokenEnv: string | null;
};

/** `agent_deleted` reaches no caller. */
export type FailureCode = DeploymentFailure | 'agent_deleted';

interface Named {
  readonly deploymentId: string;
  readonly agentId: string;
  readonly at: string;
}

/** The events of a deployment. Times are ISO 8601. */
export type DeploymentEvent =
  | {
      readonly type: 'DeploymentRequested';
      readonly data: Named & { readonly accountId: string; readonly origin: GitOrigin };
    }
  | { readonly type: 'DeploymentBuildStarted'; readonly data: Named & { readonly host: string } }
  | {
      readonly type: 'DeploymentBuilt';
      readonly data: Named & { readonly branch: string; readonly commit: string };
    }
  | { readonly type: 'DeploymentSucceeded'; readonly data: Named }
  | {
      readonly type: 'DeploymentFailed';
      readonly data: Named & { readonly code: FailureCode; readonly message: string };
    };

/** What is known of a deployment from its request on. */
export interface RequestedDeployment {
  readonly deploymentId: string;
  readonly agentId: string;
  readonly accountId: string;
  readonly origin: GitOrigin;
}

export type Deployment =
  | { readonly stage: 'absent' }
  | (RequestedDeployment & { readonly stage: 'queued' })
  | (RequestedDeployment & { readonly stage: 'building'; readonly since: string })
  /** Built; it ends once the agent has adopted the version. */
  | (RequestedDeployment & { readonly stage: 'built'; readonly branch: string; readonly commit: string })
  | (RequestedDeployment & { readonly stage: 'succeeded' | 'failed' });

const requested = ({
  deploymentId,
  agentId,
  accountId,
  origin,
}: RequestedDeployment): RequestedDeployment => ({ deploymentId, agentId, accountId, origin });

/** Applies one event. Pure. */
export const evolve = (deployment: Deployment, event: DeploymentEvent): Deployment => {
  if (event.type === 'DeploymentRequested') return { ...requested(event.data), stage: 'queued' };
  if (deployment.stage === 'absent') return deployment;
  const known = requested(deployment);
  switch (event.type) {
    case 'DeploymentBuildStarted':
      return { ...known, stage: 'building', since: event.data.at };
    case 'DeploymentBuilt':
      return { ...known, stage: 'built', branch: event.data.branch, commit: event.data.commit };
    case 'DeploymentSucceeded':
      return { ...known, stage: 'succeeded' };
    case 'DeploymentFailed':
      return { ...known, stage: 'failed' };
  }
};

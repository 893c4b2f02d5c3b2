import type { DeploymentFailure } from '@berth/contracts/agents';
import type { BuiltCode } from '@berth/contracts/runtime';
import type { Personal } from '@berth/personal-data';

/** Where the code of a deployment comes from. `addresses` are those that the URL's host had when it was accepted. */
export type GitOrigin = {
  readonly kind: 'git';
  readonly repoUrl: string;
  readonly addresses: readonly string[];
  /** null: the one that HEAD of the repository names. */
  readonly branch: string | null;
  /** The variable of the agent that holds the password of the clone. */
  readonly tokenEnv: Personal<string> | null;
};

/** An image, by its complete reference. */
export type ImageOrigin = {
  readonly kind: 'image';
  readonly image: string;
  /** The operator allows its registry without TLS. */
  readonly insecure: boolean;
};

export type Origin = GitOrigin | ImageOrigin;

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
      readonly type: 'DeploymentRequested.v2';
      readonly data: Named & { readonly accountId: string; readonly origin: Origin };
    }
  | { readonly type: 'DeploymentBuildStarted'; readonly data: Named & { readonly host: string } }
  | { readonly type: 'DeploymentBuilt'; readonly data: Named & BuiltCode }
  | { readonly type: 'DeploymentSucceeded'; readonly data: Named }
  | {
      readonly type: 'DeploymentFailed';
      readonly data: Named & { readonly code: FailureCode; readonly message: string };
    };

/** The data of a deployment that its request determines. */
export interface RequestedDeployment {
  readonly deploymentId: string;
  readonly agentId: string;
  readonly accountId: string;
  readonly origin: Origin;
}

export type Deployment =
  | { readonly stage: 'absent' }
  | (RequestedDeployment & { readonly stage: 'queued' })
  | (RequestedDeployment & { readonly stage: 'building'; readonly since: string })
  /** Built; it ends once the agent has adopted the version. */
  | (RequestedDeployment & { readonly stage: 'built'; readonly code: BuiltCode })
  | (RequestedDeployment & { readonly stage: 'succeeded' | 'failed' });

const requested = ({
  deploymentId,
  agentId,
  accountId,
  origin,
}: RequestedDeployment): RequestedDeployment => ({ deploymentId, agentId, accountId, origin });

/** What a build has found or made, without the other members. */
export const builtCode = (built: BuiltCode): BuiltCode =>
  'image' in built ? { image: built.image } : { branch: built.branch, commit: built.commit };

/** Applies one event. Pure. */
export const evolve = (deployment: Deployment, event: DeploymentEvent): Deployment => {
  if (event.type === 'DeploymentRequested.v2') return { ...requested(event.data), stage: 'queued' };
  if (deployment.stage === 'absent') return deployment;
  const known = requested(deployment);
  switch (event.type) {
    case 'DeploymentBuildStarted':
      return { ...known, stage: 'building', since: event.data.at };
    case 'DeploymentBuilt':
      return { ...known, stage: 'built', code: builtCode(event.data) };
    case 'DeploymentSucceeded':
      return { ...known, stage: 'succeeded' };
    case 'DeploymentFailed':
      return { ...known, stage: 'failed' };
  }
};

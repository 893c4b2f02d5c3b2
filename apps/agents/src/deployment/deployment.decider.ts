import type { BuiltCode } from '@berth/contracts/runtime';
import type { Decider } from '@berth/kernel';
import {
  evolve,
  type Deployment,
  type DeploymentEvent,
  type FailureCode,
  type RequestedDeployment,
} from './deployment.js';

/** The commands on a deployment. `at` is the current time, ISO 8601. */
export type DeploymentCommand =
  | (RequestedDeployment & { readonly type: 'Request'; readonly at: string })
  | { readonly type: 'BeginBuild'; readonly host: string; readonly at: string }
  | { readonly type: 'FinishBuild'; readonly code: BuiltCode; readonly at: string }
  | { readonly type: 'Succeed'; readonly at: string }
  | {
      readonly type: 'Fail';
      readonly code: FailureCode;
      readonly message: string;
      readonly at: string;
    }
  /** A newer deployment replaces it unless its build has begun. */
  | { readonly type: 'Supersede'; readonly at: string };

const SUPERSEDED = 'A newer deployment of the agent replaced it before its build began.';

const decide = (command: DeploymentCommand, deployment: Deployment): readonly DeploymentEvent[] => {
  if (command.type === 'Request') return request(command, deployment);
  if (deployment.stage === 'absent') return [];
  const named = { deploymentId: deployment.deploymentId, agentId: deployment.agentId, at: command.at };
  const { stage } = deployment;
  switch (command.type) {
    case 'BeginBuild':
      return stage === 'queued'
        ? [{ type: 'DeploymentBuildStarted', data: { ...named, host: command.host } }]
        : [];
    case 'FinishBuild':
      return stage === 'queued' || stage === 'building'
        ? [{ type: 'DeploymentBuilt', data: { ...named, ...command.code } }]
        : [];
    case 'Succeed':
      return stage === 'built' ? [{ type: 'DeploymentSucceeded', data: named }] : [];
    case 'Fail': {
      const { code, message } = command;
      return stage === 'succeeded' || stage === 'failed'
        ? []
        : [{ type: 'DeploymentFailed', data: { ...named, code, message } }];
    }
    case 'Supersede':
      return stage === 'queued'
        ? [{ type: 'DeploymentFailed', data: { ...named, code: 'superseded', message: SUPERSEDED } }]
        : [];
  }
};

const request = (
  { deploymentId, agentId, accountId, origin, at }: DeploymentCommand & { readonly type: 'Request' },
  { stage }: Deployment,
): readonly DeploymentEvent[] =>
  stage === 'absent'
    ? [{ type: 'DeploymentRequested.v2', data: { deploymentId, agentId, accountId, origin, at } }]
    : [];

/** The rules of a deployment: it is built once, and keeps its first outcome. */
export const deploymentDecider: Decider<Deployment, DeploymentCommand, DeploymentEvent> = {
  initial: { stage: 'absent' },
  decide,
  evolve,
};

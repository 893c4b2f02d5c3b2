import type { AgentView } from './agent.view.js';

export const DEPLOYMENT_STATUSES = ['queued', 'building', 'succeeded', 'failed'] as const;
export type DeploymentStatus = (typeof DEPLOYMENT_STATUSES)[number];

/** Why a deployment failed, and when. */
export const DEPLOYMENT_FAILURES = {
  clone_failed: 'the repository could not be fetched, or its host redirects',
  branch_not_found: 'the repository has no such branch, or no default branch',
  repo_too_large: 'the checked-out tree is larger than 1 GiB',
  cannot_start_repository: 'nothing in the repository says how to start it',
  image_unavailable: 'the image could not be pulled',
  build_failed: 'a command of the build failed',
  build_timeout: 'the build took more than 900 s',
  version_did_not_start: 'the version was not `running` within 60 s; the one before it runs again',
  superseded: 'a newer deployment of the agent replaced it while it waited',
  interrupted: 'Berth ended while it was building',
} as const;
export type DeploymentFailure = keyof typeof DEPLOYMENT_FAILURES;

/** A deployment as the API shows it. Times are ISO 8601. */
export interface DeploymentView {
  /** `dep_…` */
  readonly id: string;
  readonly source: AgentView['source'];
  readonly status: DeploymentStatus;
  readonly error: { readonly code: DeploymentFailure; readonly message: string } | null;
  readonly commit: string | null;
  readonly createdAt: string;
  readonly finishedAt: string | null;
}

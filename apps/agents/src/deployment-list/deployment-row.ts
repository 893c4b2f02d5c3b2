import type { AgentView, DeploymentStatus } from '@berth/contracts/agents';
import { builtCode, type DeploymentEvent, type FailureCode, type Origin } from '../deployment/deployment.js';

/** One row of the list of deployments, columns as in the table. Times are ISO 8601. */
export interface DeploymentRow {
  readonly id: string;
  readonly agent_id: string;
  readonly account_id: string;
  readonly source: AgentView['source'];
  readonly status: DeploymentStatus;
  readonly error: { readonly code: FailureCode; readonly message: string } | null;
  readonly commit: string | null;
  readonly created_at: string;
  readonly finished_at: string | null;
}

/** Applies an event to the row. Pure. */
export const evolveRow = (row: DeploymentRow | null, event: DeploymentEvent): DeploymentRow | null => {
  if (event.type === 'DeploymentRequested.v2') return newRow(event.data);
  if (row === null) return null;
  switch (event.type) {
    case 'DeploymentBuildStarted':
      return { ...row, status: 'building' };
    case 'DeploymentBuilt': {
      const code = builtCode(event.data);
      const commit = 'commit' in code ? code.commit : null;
      return { ...row, status: 'building', commit, source: { ...row.source, ...code } };
    }
    case 'DeploymentSucceeded':
      return { ...row, status: 'succeeded', finished_at: event.data.at };
    case 'DeploymentFailed': {
      const { code, message, at } = event.data;
      return { ...row, status: 'failed', error: { code, message }, finished_at: at };
    }
  }
};

const requestedSource = (origin: Origin): DeploymentRow['source'] => {
  if (origin.kind === 'image') return { kind: 'image', image: origin.image };
  const { repoUrl, branch } = origin;
  return { kind: 'git', repoUrl, ...(branch === null ? {} : { branch }) };
};

const newRow = ({
  deploymentId,
  agentId,
  accountId,
  origin,
  at,
}: Extract<DeploymentEvent, { readonly type: 'DeploymentRequested.v2' }>['data']): DeploymentRow => ({
  id: deploymentId,
  agent_id: agentId,
  account_id: accountId,
  source: requestedSource(origin),
  status: 'queued',
  error: null,
  commit: null,
  created_at: at,
  finished_at: null,
});

import type { AgentView, EndUserSpend } from '@berth/contracts/agents';
import type { EndUserView } from '@berth/contracts/end-users';
import { agentTable } from './agent-table.js';
import { policyTable } from './policy-table.js';
import { formatTable } from './table.js';

/** An end user as `GET /api/v1/end-users/{external_id}` shows it. */
export interface EndUserDetail extends EndUserView {
  readonly agents: readonly AgentView[];
  readonly spend: EndUserSpend;
}

/** The members of an end user, then its own policy, then its agents. */
export const endUserDetail = (endUser: EndUserDetail): string => {
  const { policy, agents } = endUser;
  const tables = [formatTable(['END USER', endUser.externalId], rowsOf(endUser))];
  if (policy !== null) tables.push(policyTable(policy));
  if (agents.length > 0) tables.push(agentTable(agents));
  return tables.join('\n');
};

const rowsOf = ({ spend, ...endUser }: EndUserDetail): readonly (readonly string[])[] => [
  ['name', endUser.displayName ?? '-'],
  ['status', endUser.status],
  ['suspended', endUser.suspendedAt ?? '-'],
  ['tags', endUser.tags.join(',') || '-'],
  ['metadata', JSON.stringify(endUser.metadata)],
  ['created', endUser.createdAt],
  ['updated', endUser.updatedAt],
  ['last active', endUser.lastActiveAt ?? '-'],
  ['compute minutes', ofCap(spend.computeMinutes, spend.computeCapMinutes)],
  ['LLM cents', ofCap(spend.aiCents, spend.capCents)],
  ['month ends', spend.resetsAt],
];

const ofCap = (used: number, cap: number | null): string => (cap === null ? `${used}` : `${used} of ${cap}`);

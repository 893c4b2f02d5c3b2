import { defineRequest } from '@berth/kernel';
import type { Policy } from '../schema/index.js';

/** The policy of an end user, or its removal (null), as the log has it at `position`. */
export interface ApplyPolicy {
  readonly accountId: string;
  readonly endUserId: string;
  readonly policy: Policy | null;
  /** Position of the event in the log, in decimal; a change older than the last one is ignored. */
  readonly position: string;
}

/** The defaults of an account, or their removal (null). */
export type ApplyDefaults = Omit<ApplyPolicy, 'endUserId'>;

export interface GetSpend {
  readonly accountId: string;
  readonly endUserId: string;
}

/** What an end user has used in the current month (UTC), and what the policy in force allows. Times are ISO 8601. */
export interface EndUserSpend {
  readonly periodStart: string;
  /** Settled cost of the month's LLM calls, in cents. */
  readonly aiCents: number;
  readonly capCents: number | null;
  /** Minutes that its agents were awake, to six decimals. */
  readonly computeMinutes: number;
  readonly computeCapMinutes: number | null;
  /** The end of the month. */
  readonly resetsAt: string;
}

/** The requests that `agents` handles about the end users who own agents. */
export const agentOwnersRequests = {
  /** Once it returns, the policy is in force. `agentsUpdated` counts the agents that the end user has now. */
  applyPolicy: defineRequest<ApplyPolicy, { readonly agentsUpdated: number }>(
    'cmd.agents.apply-policy.v1',
    5_000,
    { whenLost: 'repeat' },
  ),
  /** Like `applyPolicy`, for every end user without a policy of its own. */
  applyDefaults: defineRequest<ApplyDefaults, Record<string, never>>('cmd.agents.apply-defaults.v1', 5_000, {
    whenLost: 'repeat',
  }),
  spend: defineRequest<GetSpend, EndUserSpend>('qry.agents.spend.v1'),
};

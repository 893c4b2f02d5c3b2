import { DEFAULT_PLAN } from '@berth/contracts/accounts';

/** Whether an account can have the plan. Without a file of plans there is one, which limits nothing. */
export const isKnownPlan = (planId: string): boolean => planId === DEFAULT_PLAN;

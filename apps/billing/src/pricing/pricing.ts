import type { Decider } from '@berth/kernel';
import type { Plan as OperatorPlan } from '@berth/operator-file';

/** What a plan of the operator's file says about the price of hosting. */
export type Plan = Pick<OperatorPlan, 'id' | 'hosting'>;

/** The plans as the operator's file has them from now on. */
export interface PlansRead {
  readonly type: 'PlansRead';
  readonly plans: readonly Plan[];
  /** ISO 8601. */
  readonly at: string;
}

export interface ReadPlans {
  readonly plans: readonly Plan[];
  readonly at: string;
}

/** The plans of the last event, in canonical text; empty before the first one. */
export type PricingState = string;

const canonical = (plans: readonly Plan[]): string =>
  JSON.stringify(
    [...plans].sort((a, b) => (a.id < b.id ? -1 : 1)),
    (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value),
  );

/** Prices are recorded when they are read and differ from those before, so that a rebuild prices as it was done then. */
export const pricingDecider: Decider<PricingState, ReadPlans, PlansRead> = {
  initial: '',
  decide: ({ plans, at }, state) => (canonical(plans) === state ? [] : [{ type: 'PlansRead', plans, at }]),
  evolve: (_, { plans }) => canonical(plans),
};

import { parseCents, type Millionths } from '@berth/kernel';
import { repeated, type Fault } from './fault.js';
import { ADDONS, type PlansText } from './plans.schema.js';

/** The plan of accounts that were given none. */
const DEFAULT_PLAN_ID = 'default';

export type Addon = (typeof ADDONS)[number];

/** How the hosting of an account is priced. */
export type Hosting =
  | {
      readonly kind: 'metered';
      /** For a vCPU and hour. */
      readonly vcpuHour: Millionths;
      /** For a GiB of memory and hour. */
      readonly memGbHour: Millionths;
      /** For a GiB of disk and 730 hours. */
      readonly diskGbMonth: Millionths;
    }
  | { readonly kind: 'seat'; readonly pricePerMonth: Millionths };

export interface Plan {
  readonly id: string;
  readonly hosting: Hosting;
  /** Agents of an account; null: no limit. */
  readonly maxAgents: number | null;
  readonly addons: readonly Addon[];
}

/** The only plan of an installation whose file has none: free, without limits, with every add-on. */
const FREE_PLAN: Plan = {
  id: DEFAULT_PLAN_ID,
  hosting: { kind: 'metered', vcpuHour: 0n, memGbHour: 0n, diskGbMonth: 0n },
  maxAgents: null,
  addons: ADDONS,
};

/** Checks of the section that its schema cannot express. */
export const planFaults = (plans: PlansText): readonly Fault[] => [
  ...repeated(
    plans,
    ({ id }) => id,
    (index) => ['plans', index, 'id'],
  ),
  ...plans.flatMap(({ hosting, rates, priceCentsPerMonth }, index) => {
    if (hosting === 'metered')
      return priceCentsPerMonth === undefined
        ? []
        : [{ path: ['plans', index, 'priceCentsPerMonth'], what: 'is only for plans with seats' }];
    if (rates !== undefined) return [{ path: ['plans', index, 'rates'], what: 'is only for metered plans' }];
    return priceCentsPerMonth === undefined
      ? [{ path: ['plans', index, 'hosting'], what: 'needs priceCentsPerMonth with seats' }]
      : [];
  }),
  ...(plans.some(({ id }) => id === DEFAULT_PLAN_ID)
    ? []
    : [{ path: ['plans'], what: `must have one with the id ${DEFAULT_PLAN_ID}` }]),
];

/** Plans that accounts have and the file has not. */
export const missingPlans = (plans: readonly Plan[], inUse: readonly string[]): readonly Fault[] =>
  inUse
    .filter((planId) => !plans.some(({ id }) => id === planId))
    .map((planId) => ({ path: ['plans'], what: `must keep ${planId}, which accounts have` }));

/** The plans of a section without faults; undefined: the file has no such section. */
export const plansOf = (texts: PlansText | undefined): readonly Plan[] =>
  texts === undefined
    ? [FREE_PLAN]
    : texts.map((text) => ({
        id: text.id,
        hosting: hostingOf(text),
        maxAgents: text.maxAgents ?? null,
        addons: text.addons ?? [],
      }));

const hostingOf = ({ hosting, rates = {}, priceCentsPerMonth }: PlansText[number]): Hosting =>
  hosting === 'seat'
    ? { kind: 'seat', pricePerMonth: amount(priceCentsPerMonth) }
    : {
        kind: 'metered',
        vcpuHour: amount(rates.vcpuHourCents),
        memGbHour: amount(rates.memGbHourCents),
        diskGbMonth: amount(rates.diskGbMonthCents),
      };

const amount = (cents: number | undefined): Millionths => parseCents(cents ?? 0) ?? 0n;

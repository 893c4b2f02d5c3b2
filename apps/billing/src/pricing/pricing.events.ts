import type { EventCodec, EventData } from '@berth/event-store';
import type { Plan, PlansRead } from './pricing.js';

/** The one stream is `pricing-plans`. */
export const PRICING_STREAM_ID = 'plans';

/** Millionths of a cent as decimal digits, because JSON numbers are floats. */
interface StoredPlan {
  readonly id: string;
  readonly hosting:
    | {
        readonly kind: 'metered';
        readonly vcpuHour: string;
        readonly memGbHour: string;
        readonly diskGbMonth: string;
      }
    | { readonly kind: 'seat'; readonly pricePerMonth: string };
}

const toStoredPlan = ({ id, hosting }: Plan): StoredPlan => ({
  id,
  hosting:
    hosting.kind === 'seat'
      ? { kind: 'seat', pricePerMonth: String(hosting.pricePerMonth) }
      : {
          kind: 'metered',
          vcpuHour: String(hosting.vcpuHour),
          memGbHour: String(hosting.memGbHour),
          diskGbMonth: String(hosting.diskGbMonth),
        },
});

const fromStoredPlan = ({ id, hosting }: StoredPlan): Plan => ({
  id,
  hosting:
    hosting.kind === 'seat'
      ? { kind: 'seat', pricePerMonth: BigInt(hosting.pricePerMonth) }
      : {
          kind: 'metered',
          vcpuHour: BigInt(hosting.vcpuHour),
          memGbHour: BigInt(hosting.memGbHour),
          diskGbMonth: BigInt(hosting.diskGbMonth),
        },
});

/** The plans in the data of a stored `PlansRead`. */
export const plansIn = (data: EventData): readonly Plan[] =>
  (data as unknown as { readonly plans: readonly StoredPlan[] }).plans.map(fromStoredPlan);

export const pricingCodec: EventCodec<PlansRead> = {
  category: 'pricing',
  toStored: ({ type, plans, at }) => ({
    type,
    data: { plans: plans.map((plan) => ({ ...toStoredPlan(plan) })), at },
  }),
  fromStored: ({ type, data }) => {
    if (type !== 'PlansRead') throw new Error(`The pricing stream holds an event of unknown type ${type}.`);
    return { type, plans: plansIn(data), at: String(data['at']) };
  },
};

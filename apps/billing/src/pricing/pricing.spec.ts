import { join } from 'node:path';
import { decideGiven } from '@berth/kernel';
import { describeGoldenEvents } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { pricingDecider, type Plan } from './pricing.js';
import { pricingCodec } from './pricing.events.js';

describeGoldenEvents(join(import.meta.dirname, '__events__'), pricingCodec, { PlansRead: true });

const metered = (vcpuHour: bigint): Plan => ({
  id: 'default',
  hosting: { kind: 'metered', vcpuHour, memGbHour: 0n, diskGbMonth: 0n },
});
const seat: Plan = { id: 'team', hosting: { kind: 'seat', pricePerMonth: 20_000_000_000n } };
const at = '2026-11-23T08:00:00.000Z';

describe('the prices of the operator’s file', () => {
  it('are recorded when they differ from those before, and only then', () => {
    const { events } = decideGiven(pricingDecider, [], { plans: [metered(1n), seat], at });
    expect(events).toEqual([{ type: 'PlansRead', plans: [metered(1n), seat], at }]);
    expect(decideGiven(pricingDecider, events, { plans: [seat, metered(1n)], at }).events).toEqual([]);
    expect(decideGiven(pricingDecider, events, { plans: [metered(2n), seat], at }).events).toHaveLength(1);
    expect(decideGiven(pricingDecider, events, { plans: [metered(1n)], at }).events).toHaveLength(1);
  });
});

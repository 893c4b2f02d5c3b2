import { EventStore, EventStreams } from '@berth/event-store';
import { Injectable } from '@nestjs/common';
import { pricingCodec } from './pricing.events.js';
import { pricingDecider, type PlansRead, type PricingState, type ReadPlans } from './pricing.js';

@Injectable()
export class PricingStreams extends EventStreams<PricingState, ReadPlans, PlansRead> {
  constructor(store: EventStore) {
    super({ store, decider: pricingDecider, codec: pricingCodec });
  }
}

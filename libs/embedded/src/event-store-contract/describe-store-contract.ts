import { afterAll, beforeAll, describe } from 'vitest';
import { describeAppends } from './append.contract.js';
import { describeBatchAppends } from './batch-append.contract.js';
import { describeDeletions } from './deletion.contract.js';
import { describeFilters } from './filter.contract.js';
import { describeIdempotency } from './idempotency.contract.js';
import { describeMetadata } from './metadata.contract.js';
import { describeReads } from './read.contract.js';
import { StoreFixture } from './store-fixture.js';
import { describeSubscriptions } from './subscription.contract.js';

/**
 * Registers the tests for everything Berth relies on in an event store, run through the real client against any
 * `esdb://` address. Stream names are unique to the run, so the store may be shared and contain other events.
 */
export function describeStoreContract(connectionString: () => string): void {
  describe('store contract', () => {
    let fixture: StoreFixture;
    beforeAll(() => {
      fixture = new StoreFixture(connectionString());
    });
    afterAll(() => fixture.dispose());
    const store = (): StoreFixture => fixture;

    describeAppends(store);
    describeIdempotency(store);
    describeBatchAppends(store);
    describeReads(store);
    describeSubscriptions(store);
    describeFilters(store);
    describeDeletions(store);
    describeMetadata(store);
  });
}

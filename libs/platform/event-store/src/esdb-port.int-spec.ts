import { afterAll, beforeAll } from 'vitest';
import { describeEventStorePort } from './fixtures/event-store.contract.js';
import { startStoreFixture, type StoreFixture } from './fixtures/store-fixture.js';

let fixture: StoreFixture;

beforeAll(async () => {
  fixture = await startStoreFixture();
});
afterAll(() => fixture.stop());

describeEventStorePort('EventStoreDB', () => fixture.direct);

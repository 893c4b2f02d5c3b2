import { describeEventStorePort } from './fixtures/event-store.contract.js';
import { MemoryEventStore } from './memory-event-store.js';

const store = new MemoryEventStore();

describeEventStorePort('in memory', () => store);

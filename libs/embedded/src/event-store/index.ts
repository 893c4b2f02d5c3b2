export { type EventStoreServer, type EventStoreServerOptions, startEventStoreServer } from './server.js';

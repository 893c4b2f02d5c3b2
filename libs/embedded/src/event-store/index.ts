export { type EventStoreServer, type EventStoreServerOptions, startEventStoreServer } from './server.js';
export { type ClusterStandIn, type ClusterView, startClusterStandIn } from './cluster-stand-in.js';
export type { Member } from './fixed-responses.js';

export {
  startEmbedded,
  type EmbeddedInfrastructure,
  type EmbeddedOptions,
  type EmbeddedPart,
} from './start-embedded.js';
export { acquireDataLock, DataFolderInUseError, type DataLock } from './data-folder/data-lock.js';
export { DataFolderUnusableError } from './data-folder/private-file.js';
export {
  authorizationBlock,
  permissionsOf,
  type BrokerUser,
  type Permissions,
  type ServiceAccess,
} from './nats/broker-permissions.js';
export { SERVICE_ACCESS, type ServiceName } from './nats/service-access.js';
export { ensureNatsServer, type NatsBinary } from './nats/nats-binary.js';
export type { EmbeddedLog } from './supervision/embedded-log.js';
export {
  startClusterStandIn,
  startEventStoreServer,
  type ClusterStandIn,
  type EventStoreServer,
  type EventStoreServerOptions,
  type Member,
} from './event-store/index.js';

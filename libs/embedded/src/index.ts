export {
  startEmbedded,
  type EmbeddedInfrastructure,
  type EmbeddedOptions,
  type EmbeddedPart,
} from './start-embedded.js';
export { acquireDataLock, DataFolderInUseError, type DataLock } from '@berth/host-requirements';
export { DataFolderUnusableError } from '@berth/host-requirements';
export {
  authorizationBlock,
  permissionsOf,
  type BrokerUser,
  type Permissions,
  type ServiceAccess,
} from './nats/broker-permissions.js';
export { SERVICE_ACCESS, type ServiceName } from './nats/service-access.js';
export { HostAccess, type HostCredential } from './nats/host-access.js';
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

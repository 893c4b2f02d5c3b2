export {
  startEmbedded,
  type EmbeddedInfrastructure,
  type EmbeddedOptions,
  type EmbeddedPart,
} from './start-embedded.js';
export { acquireDataLock, DataFolderInUseError, type DataLock } from '@berth/host-requirements';
export { DataFolderUnusableError } from '@berth/host-requirements';
export { dataCaFile } from './nats/nats-part.js';
export { SERVICE_ACCESS, type HostAccess, type ServiceName } from '@berth/broker-users';
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

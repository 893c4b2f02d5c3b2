export {
  authorizationBlock,
  permissionsOf,
  userBlocks,
  type BrokerUser,
  type Permissions,
  type ServiceAccess,
} from './broker-permissions.js';
export { SERVICE_ACCESS, type ServiceName } from './service-access.js';
export { acceptsUser, readGreeting, type BrokerAddress } from './broker-probe.js';
export { HostUsers, type HostUser } from './host-users.js';
export { HostAccess, type HostCredential, type ReloadableBroker } from './host-access.js';
export { DATA_CA_FILE, DataAuthority, type DataCertificate } from './data-authority.js';
export { HOST_USERS_FILE, hostAccessIn } from './broker-folder.js';

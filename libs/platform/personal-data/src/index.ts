export { EndUserKeys } from './end-user-keys.js';
export { KeptKeys, keptKeysOf } from './kept-keys.js';
export { ResourceOwners, type CreationForEndUser } from './resource-owners.js';
export { fromPersonal, toPersonal, type Personal } from './personal.js';
export { PersonalKey } from './personal-key.js';
export { createPersonalKeyVault, PersonalKeyVault } from './personal-key-vault.js';

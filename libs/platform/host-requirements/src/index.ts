export { assertPortFree, isFree, LOOPBACK, PortUnavailableError } from './free-port.js';
export { cgroupMounts, type CgroupMount } from './cgroup-mounts.js';
export { diskSpace, hasRoom, type DiskSpace, type DiskState } from './disk-space.js';
export { DESKTOP_EXTRAS, DESKTOP_PACKAGES, missingDesktopPackages } from './desktop-programs.js';
export { findProgram } from './find-program.js';
export { runtimeClassOf, type RuntimeClass } from './runtime-class.js';
export {
  hostChecks,
  hostProblems,
  type FoundVersion,
  type HostCheck,
  type HostFacts,
} from './host-checks.plan.js';
export { DEFAULT_ADDRESS, findCniPlugin, readHostFacts } from './host-facts.js';
export { instanceOf, namespaceOf } from './installation.js';
export { readHostMeans, type HostMeans } from './host-means.js';
export { hardLimitOfFiles, openFilesLimit, openFilesOfContainerd, WANTED_OPEN_FILES } from './open-files.js';
export { listPids } from './process-ids.js';
export { firstSubordinateId, readSubordinateIds, type SubordinateIds } from './subordinate-ids.js';
export { acquireDataLock, DataFolderInUseError, type DataLock } from './data-lock.js';
export {
  DataFolderUnusableError,
  ensurePrivateFolder,
  readJsonObject,
  readKeptObject,
  writePrivateFile,
} from './private-file.js';

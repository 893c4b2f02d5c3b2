export { BackgroundWork } from './background-work.js';
export { awaitPart, type AwaitedPart } from './await-part.js';
export {
  claimInstallation,
  closeParts,
  openLink,
  openLog,
  openParts,
  openTables,
  reachParts,
  type OpenPartsOptions,
  type PartUrls,
  type ServiceParts,
} from './open-parts.js';
export { runMain, type Main, type Stoppable } from './run-main.js';

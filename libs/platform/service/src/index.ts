export { BackgroundWork } from './background-work.js';
export { closeParts, openParts, type OpenPartsOptions, type ServiceParts } from './open-parts.js';
export { runMain, type Main, type Stoppable } from './run-main.js';

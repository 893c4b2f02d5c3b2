export { awaitPart, type AwaitedPart } from './await-part.js';
export { openLog, reachParts, type PartUrls } from './open-part.js';
export { RunOnOneInstance, type Runnable } from './background-task.js';
export { ConsumeEvents, type EventReaction } from './consume-events.js';
export { definitionOf } from './definition-of.js';
export { endProcess } from './end-process.js';
export { HostIdentity } from './host-identity.js';
export { launchApp, launchService, LaunchModule, type LaunchedService } from './launch-service.js';
export { PlatformModule, type ServicePlatform } from './platform.module.js';
export { InjectProjection, ProjectionModule, type ProjectionOptions } from './projection.module.js';
export { RelayModule, type RelayedEvents } from './relay.module.js';
export { runMain, type Main } from './run-main.js';
export { runService } from './run-service.js';
export { ServiceContext, type LaunchOptions } from './service-context.js';
export type {
  ServiceDefinition,
  ServiceModule,
  ServiceOptions,
  ServiceSettings,
  ServiceTables,
} from './service-definition.js';
export type { Stoppable } from './stoppable.js';

import type { ServiceName } from './nats/service-access.js';
import type { PartSecrets } from './data-folder/secrets.js';
import type { EmbeddedLog } from './supervision/embedded-log.js';
import type { ProcessSpec } from './supervision/supervised-process.js';

/** Whom the embedded broker serves. */
export interface BrokerScope {
  /** The installation's name in subjects and streams. */
  readonly instance: string;
  /** Runtime hosts whose subjects the runtime's user may use. */
  readonly hosts: readonly string[];
}

/** What every part is given to plan itself with. */
export interface PartContext {
  readonly dataDir: string;
  readonly secrets: PartSecrets;
  readonly broker: BrokerScope;
  readonly log: EmbeddedLog;
}

/** How one part runs, once its port is known. */
export interface PartPlan {
  readonly name: 'nats' | 'event-store' | 'postgres';
  readonly url: (port: number) => string;
  /** The URL for one service, where services have users of their own. */
  readonly serviceUrl?: (port: number, service: ServiceName) => string;
  /** How it is asked to end; the first signal is also the one it gets when we die. */
  readonly ending: ProcessSpec['ending'];
  readonly spec: (port: number) => Omit<ProcessSpec, 'name' | 'logFile' | 'pidFile' | 'ending'>;
  /** What is to be done once it answers for the first time. */
  readonly afterStart?: (port: number) => Promise<void>;
}

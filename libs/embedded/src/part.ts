import type { ServiceName } from '@berth/broker-users';
import type { PartSecrets } from './data-folder/secrets.js';
import type { EmbeddedLog } from './supervision/embedded-log.js';
import type { ProcessSpec } from './supervision/supervised-process.js';

/** The installation and hosts that the embedded broker serves. */
export interface BrokerScope {
  /** The installation's name in subjects and streams. */
  readonly instance: string;
  /** Runtime hosts whose subjects the runtime's user may use. */
  readonly hosts: readonly string[];
  /** The address that the broker listens on. */
  readonly listenOn: string;
}

/** The inputs for planning a part. */
export interface PartContext {
  readonly dataDir: string;
  readonly secrets: PartSecrets;
  readonly broker: BrokerScope;
  readonly log: EmbeddedLog;
}

/** How to run one part, once its port is known. */
export interface PartPlan {
  readonly name: 'nats' | 'event-store' | 'postgres';
  readonly url: (port: number) => string;
  /** The URL for one service, if services have users of their own. */
  readonly serviceUrl?: (port: number, service: ServiceName) => string;
  /** How to end it; the first signal is also the one it gets when this process dies. */
  readonly ending: ProcessSpec['ending'];
  readonly spec: (port: number) => Omit<ProcessSpec, 'name' | 'logFile' | 'pidFile' | 'ending'>;
  /** Runs once the part responds for the first time. */
  readonly afterStart?: (port: number) => Promise<void>;
}

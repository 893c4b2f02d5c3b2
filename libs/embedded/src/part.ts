import type { PartSecrets } from './data-folder/secrets.js';
import type { EmbeddedLog } from './supervision/embedded-log.js';
import type { ProcessSpec } from './supervision/supervised-process.js';

/** What every part is given to plan itself with. */
export interface PartContext {
  readonly dataDir: string;
  readonly secrets: PartSecrets;
  readonly log: EmbeddedLog;
}

/** How one part runs, once its port is known. */
export interface PartPlan {
  readonly name: 'nats' | 'event-store' | 'postgres';
  readonly url: (port: number) => string;
  /** How it is asked to end; the first signal is also the one it gets when we die. */
  readonly ending: ProcessSpec['ending'];
  readonly spec: (port: number) => Omit<ProcessSpec, 'name' | 'logFile' | 'pidFile' | 'ending'>;
  /** What is to be done once it answers for the first time. */
  readonly afterStart?: (port: number) => Promise<void>;
}

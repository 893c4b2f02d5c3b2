import type { EnvReader } from '@berth/config';
import type { Logger } from '@berth/telemetry';
import type { Driver } from './driver.js';

/** What every driver gets from its host. */
export interface DriverContext {
  /** Folder of the runtime's data, mode 0700; each agent has a folder below. */
  readonly dataDir: string;
  /** The guest's main file. */
  readonly guestMain: string;
  readonly log: Logger;
}

/** Creates a driver, which is not open yet. */
export type CreateDriver = (context: DriverContext) => Driver;

/** A driver that the configuration can choose. Add one to `DRIVERS`. */
export interface DriverDefinition {
  /** Value of `BERTH_RUNTIME`. */
  readonly name: string;
  /** Reads the driver's own variables. Records invalid ones at the reader. */
  configure(reader: EnvReader): CreateDriver;
}

import type { EnvReader } from '@berth/config';
import type { OperatorSettings } from '@berth/operator-file';
import type { Logger } from '@berth/telemetry';
import type { Driver } from './driver.js';

/** The dependencies that the host passes to every driver. */
export interface DriverContext {
  /** Folder of the runtime's data, mode 0700; each agent has a folder below. */
  readonly dataDir: string;
  /** The guest's main file. */
  readonly guestMain: string;
  readonly log: Logger;
}

/** A driver with its settings. */
export interface ConfiguredDriver {
  /** Returns a line for each thing that this host lacks, with its remedy. Takes at most 5 s and changes nothing. */
  check(): Promise<readonly string[]>;
  /** Creates the driver, which is not open yet. */
  create(context: DriverContext): Driver;
}

/** A driver that the configuration can choose; `driver-registry.ts` names it. */
export interface DriverDefinition {
  /** Reads the driver's own variables. Records invalid ones at the reader. */
  configure(reader: EnvReader, operator: OperatorSettings): ConfiguredDriver;
}

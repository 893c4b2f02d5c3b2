import type { EnvReader, RuntimeDriver } from '@berth/config';
import type { OperatorSettings } from '@berth/operator-file';
import type { ConfiguredDriver, DriverDefinition } from './driver-definition.js';
import { nerdctlDriver } from './nerdctl/nerdctl-driver.definition.js';
import { processDriver } from './process/process-driver.definition.js';

/** The definitions of all drivers that the configuration can name. */
export type DriverDefinitions = Readonly<Record<RuntimeDriver, DriverDefinition>>;

const DRIVERS: DriverDefinitions = { process: processDriver, nerdctl: nerdctlDriver };

/**
 * The driver that `BERTH_RUNTIME` names, with its settings; the process driver if the variable is unset. Records a
 * problem that lists the known names if it names another.
 */
export const chooseDriver = (
  reader: EnvReader,
  operator: OperatorSettings,
  drivers: DriverDefinitions = DRIVERS,
): ConfiguredDriver => drivers[reader.runtimeDriver()].configure(reader, operator);

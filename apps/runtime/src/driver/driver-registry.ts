import type { EnvReader } from '@berth/config';
import type { CreateDriver, DriverDefinition } from './driver-definition.js';
import { processDriver } from './process/process-driver.definition.js';

/** The drivers that the configuration can choose. */
const DRIVERS: readonly [DriverDefinition, ...DriverDefinition[]] = [processDriver];

/**
 * The driver that `BERTH_RUNTIME` names, with its settings; the process driver if the variable is unset. Records a
 * problem that lists the known names if it names another.
 */
export const chooseDriver = (
  reader: EnvReader,
  drivers: readonly [DriverDefinition, ...DriverDefinition[]] = DRIVERS,
): CreateDriver => {
  const [first, ...others] = drivers;
  const knownDrivers: readonly [string, ...string[]] = [first.name, ...others.map(({ name }) => name)];
  const chosen = reader.oneOf('BERTH_RUNTIME', knownDrivers, 'process');
  return (drivers.find(({ name }) => name === chosen) ?? first).configure(reader);
};

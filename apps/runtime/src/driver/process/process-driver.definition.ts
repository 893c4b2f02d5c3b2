import type { DriverDefinition } from '../driver-definition.js';
import { ProcessDriver } from './process.driver.js';

/** `BERTH_RUNTIME=process`. Reads BERTH_AGENT_UID_BASE, BERTH_AGENT_VOLUMES. */
export const processDriver: DriverDefinition = {
  configure(reader) {
    const uidBase = reader.optionalInteger('BERTH_AGENT_UID_BASE', { min: 1_000, max: 0x7fff_0000 });
    const outsideDir = reader.optional('BERTH_AGENT_VOLUMES');
    return {
      check: async () => (process.platform === 'linux' ? [] : ['The process driver needs Linux.']),
      create: (context) => new ProcessDriver({ ...context, uidBase, outsideDir }),
    };
  },
};

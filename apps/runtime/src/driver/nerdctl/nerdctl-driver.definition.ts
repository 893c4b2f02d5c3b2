import { hostProblems, readHostFacts, readHostMeans } from '@berth/host-requirements';
import type { DriverDefinition } from '../driver-definition.js';
import { NerdctlDriver } from './nerdctl.driver.js';

const DEFAULT_IMAGE = 'docker.io/library/debian:12';

/** `BERTH_RUNTIME=nerdctl`. Reads BERTH_NERDCTL (nerdctl), CONTAINERD_ADDRESS, CNI_PATH. */
export const nerdctlDriver: DriverDefinition = {
  configure(reader) {
    const means = readHostMeans(reader);
    return {
      check: async () => hostProblems(await readHostFacts(means)),
      create: (context) => new NerdctlDriver({ ...context, ...means, image: DEFAULT_IMAGE }),
    };
  },
};

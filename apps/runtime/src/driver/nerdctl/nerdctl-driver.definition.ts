import { hostProblems, readHostFacts, readHostMeans } from '@berth/host-requirements';
import type { DriverDefinition } from '../driver-definition.js';
import { NerdctlDriver } from './nerdctl.driver.js';

/** `BERTH_RUNTIME=nerdctl`. Reads BERTH_NERDCTL (nerdctl), CONTAINERD_ADDRESS, CNI_PATH, NERDCTL_TOML, CONTAINERD_SNAPSHOTTER. */
export const nerdctlDriver: DriverDefinition = {
  configure(reader, operator) {
    const { class: runtimeClass, subidUser } = operator.current.runtime;
    const means = readHostMeans(reader, { runtimeClass, subidUser });
    return {
      check: async () => hostProblems(await readHostFacts(means)),
      create: (context) => new NerdctlDriver({ ...context, ...means, operator }),
    };
  },
};

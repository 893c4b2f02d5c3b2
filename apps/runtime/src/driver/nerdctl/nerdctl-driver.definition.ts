import type { DriverDefinition } from '../driver-definition.js';
import { readHostFacts } from './host-facts.js';
import { hostProblems } from './host-requirements.plan.js';
import { NerdctlDriver } from './nerdctl.driver.js';

const DEFAULT_IMAGE = 'docker.io/library/debian:12';
const SUBID_USER = 'berth';

/** `BERTH_RUNTIME=nerdctl`. Reads BERTH_NERDCTL (nerdctl), CONTAINERD_ADDRESS, CNI_PATH. */
export const nerdctlDriver: DriverDefinition = {
  configure(reader) {
    const means = {
      nerdctl: reader.string('BERTH_NERDCTL', 'nerdctl'),
      address: reader.optional('CONTAINERD_ADDRESS'),
      cniPath: reader.optional('CNI_PATH'),
      subidUser: SUBID_USER,
      path: reader.string('PATH', ''),
    };
    return {
      check: async () => hostProblems(await readHostFacts(means)),
      create: (context) => new NerdctlDriver({ ...context, ...means, image: DEFAULT_IMAGE }),
    };
  },
};

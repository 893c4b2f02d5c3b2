import type { DriverCapabilities } from '../driver.js';

/** What the nerdctl driver offers on a host with these networks, and with or without BuildKit. */
export const nerdctlCapabilities = (
  network: DriverCapabilities['network'],
  hasBuildKit: boolean,
): DriverCapabilities => ({
  isolation: 'container',
  sources: ['template', 'build', 'image', 'desktop'],
  limits: ['memoryBytes', 'cpus', 'processes', 'diskBytes'],
  users: ['unprivileged', 'root'],
  tasks: true,
  refusesDockerfiles: hasBuildKit ? null : NO_BUILDKIT,
  network,
  runtimeClasses: ['runc'],
});

const NO_BUILDKIT =
  'The host of the agent has no BuildKit, which builds Dockerfiles. Ask the operator to install it, or add a berth.json.';

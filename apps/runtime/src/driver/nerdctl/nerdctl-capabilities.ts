import type { DriverCapabilities } from '../driver.js';

/** What the nerdctl driver offers on every host. */
export const NERDCTL_CAPABILITIES: DriverCapabilities = {
  isolation: 'container',
  sources: ['template', 'build', 'image'],
  limits: ['memoryBytes', 'cpus', 'processes', 'diskBytes'],
  users: ['unprivileged', 'root'],
  tasks: true,
  network: ['none'],
  runtimeClasses: ['runc'],
};

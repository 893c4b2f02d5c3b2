import type { StartAgent } from '@berth/contracts/runtime';
import { guestEnv } from '@berth/guest-protocol';
import type { Template } from '@berth/templates';
import type { BoxSpec } from '../driver/box-spec.js';
import type { DriverCapabilities } from '../driver/driver.js';
import { widestNetwork } from '../driver/requirements.plan.js';
import type { AgentFolders } from './agent-folders.js';

const MAX_PROCESSES = 1024;
const BYTES_PER_MB = 1024 * 1024;
const BYTES_PER_GB = 1024 * BYTES_PER_MB;

/** The box for a start from a template. */
export const boxSpecOf = (
  { agentId, epoch, source, resources }: StartAgent,
  template: Template,
  { run, logs, journal }: AgentFolders,
  capabilities: DriverCapabilities,
): BoxSpec => ({
  agentId,
  epoch,
  source: { kind: 'template', version: source.version, name: template.id, folder: template.folder },
  command: template.program?.command ?? null,
  env: { [guestEnv.generation]: template.generation },
  guestFolders: { run, logs, journal },
  limits: {
    memoryBytes: resources.memMb * BYTES_PER_MB,
    cpus: resources.vcpus,
    processes: MAX_PROCESSES,
    diskBytes: resources.diskGb * BYTES_PER_GB,
  },
  user: 'unprivileged',
  network: widestNetwork(capabilities),
});

import type { StartAgent } from '@berth/contracts/runtime';
import { guestEnv, type Generation } from '@berth/guest-protocol';
import type { BoxLimits, BoxSource, BoxSpec } from '../driver/box-spec.js';
import type { DriverCapabilities } from '../driver/driver.js';
import { widestNetwork } from '../driver/requirements.plan.js';
import type { AgentFolders } from './agent-folders.js';

const MAX_PROCESSES = 1024;
const BYTES_PER_MB = 1024 * 1024;
const BYTES_PER_GB = 1024 * BYTES_PER_MB;

/** What an agent starts with on this host. */
export interface StartCode {
  readonly source: BoxSource;
  readonly command: BoxSpec['command'];
  readonly generation: Generation;
  /** Variables that the owner's replace. */
  readonly env: Readonly<Record<string, string>>;
}

export const limitsOf = (resources: StartAgent['resources']): BoxLimits => ({
  memoryBytes: resources.memMb * BYTES_PER_MB,
  cpus: resources.vcpus,
  processes: MAX_PROCESSES,
  diskBytes: resources.diskGb * BYTES_PER_GB,
});

/** The box for a start. */
export const boxSpecOf = (
  { agentId, epoch, resources }: StartAgent,
  { source, command, generation }: StartCode,
  { run, logs, journal }: AgentFolders,
  capabilities: DriverCapabilities,
): BoxSpec => ({
  agentId,
  epoch,
  source,
  command,
  env: { [guestEnv.generation]: generation },
  guestFolders: { run, logs, journal },
  limits: limitsOf(resources),
  user: 'unprivileged',
  network: widestNetwork(capabilities),
});

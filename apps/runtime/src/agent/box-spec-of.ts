import type { StartAgent } from '@berth/contracts/runtime';
import { guestEnv, type Generation } from '@berth/guest-protocol';
import type { ContainerOptions } from '@berth/templates';
import type { BoxLimits, BoxSource, BoxSpec } from '../driver/box-spec.js';
import type { DriverCapabilities } from '../driver/driver.js';
import { networkOf } from '../driver/requirements.plan.js';
import type { AgentFolders } from './agent-folders.js';

const BYTES_PER_MB = 1024 * 1024;
const BYTES_PER_GB = 1024 * BYTES_PER_MB;

/** What an agent starts with on this host. */
export interface StartCode {
  readonly source: BoxSource;
  readonly command: BoxSpec['command'];
  readonly generation: Generation;
  /** Variables that the owner's replace. */
  readonly env: Readonly<Record<string, string>>;
  readonly container: Omit<ContainerOptions, 'image'>;
}

/** The host's settings for all its boxes. */
export interface BoxHost {
  readonly capabilities: DriverCapabilities;
  /** Processes and threads of one agent. */
  readonly pidsLimit: number;
}

export const limitsOf = (resources: StartAgent['resources'], pidsLimit: number): BoxLimits => ({
  memoryBytes: resources.memMb * BYTES_PER_MB,
  cpus: resources.vcpus,
  processes: pidsLimit,
  diskBytes: resources.diskGb * BYTES_PER_GB,
});

/** The box for a start. */
export const boxSpecOf = (
  { agentId, epoch, resources }: StartAgent,
  { source, command, generation, container }: StartCode,
  { run, logs, journal }: AgentFolders,
  { capabilities, pidsLimit }: BoxHost,
): BoxSpec => ({
  agentId,
  epoch,
  source,
  command,
  env: { [guestEnv.generation]: generation },
  guestFolders: { run, logs, journal },
  limits: limitsOf(resources, pidsLimit),
  user: container.root ? 'root' : 'unprivileged',
  rootFileSystem: container.writableRoot ? 'writable' : 'read-only',
  runtimeClass: container.runtimeClass,
  network: networkOf(container.network, capabilities),
  volumePath: container.volumePath,
});

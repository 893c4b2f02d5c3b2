import { TASK_RIGHTS } from '../tasks/task-rights.js';
import type { BaseLayout } from './base-layouts.js';
import type { BuildKit } from './buildkit.js';
import { baseFolder, CERTIFICATES, PROGRAMS } from './build-script.plan.js';

/** What the steps of a Dockerfile may do; the usual set of containers. They count only in the user namespace of the build. */
const OF_STEPS = [
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'NET_RAW',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
];
/** BuildKit mounts and creates namespaces. Its steps do not get it. */
const OF_BUILDKIT = 'SYS_ADMIN';

/**
 * Arguments for the rights of BuildKit and runc, which are root of the user namespace of their container. Its `/proc` is
 * complete, because the kernel mounts another one only where that is so; runc masks that of each step. AppArmor's profile
 * for containers would forbid mounts.
 */
export const builderRights = (seccompProfile: string | undefined): readonly string[] => [
  ...TASK_RIGHTS,
  ...[...OF_STEPS, OF_BUILDKIT].map((capability) => `--cap-add=${capability}`),
  '--security-opt=systempaths=unconfined',
  '--security-opt=apparmor=unconfined',
  ...(seccompProfile === undefined ? [] : [`--security-opt=seccomp=${seccompProfile}`]),
];

/** Arguments that make BuildKit and images available in a container. */
export const builderMounts = (
  { buildkitd, buildctl, certificates }: BuildKit,
  bases: readonly Pick<BaseLayout, 'folder'>[],
): readonly string[] => [
  `--volume=${buildkitd}:${PROGRAMS.buildkitd}:ro`,
  `--volume=${buildctl}:${PROGRAMS.buildctl}:ro`,
  ...(certificates === undefined ? [] : [`--volume=${certificates}:${CERTIFICATES}:ro`]),
  ...bases.map(({ folder }, index) => `--volume=${folder}:${baseFolder(index)}:ro`),
];

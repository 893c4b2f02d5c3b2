import type { TaskSpec } from '../../task-spec.js';
import { LABELS, SHARED_LIMITS } from '../nerdctl-arguments.js';
import { INSIDE, insidePathsOf, SYSTEM_PATH } from '../paths-inside.js';
import type { TaskRole } from './task-role.js';

/** Files and folders of the host that a task's container is created with. */
export interface TaskParts {
  readonly image: string;
  /** containerd's name of the runtime; undefined: its default. */
  readonly runtime: string | undefined;
  /** Name of the subordinate ids. */
  readonly subidUser: string;
  readonly role: Pick<TaskRole, 'user' | 'options'>;
  /** Berth's Node, with npm. */
  readonly kit: string;
  readonly code: string;
  readonly tmp: string;
  /** The pipe at which it waits. */
  readonly gate: string;
  /** Its `/etc/resolv.conf`. */
  readonly resolvConf: string;
  /** File for the id of the container; must not exist. */
  readonly idFile: string;
  /** The control group for the container's own; undefined: nerdctl's choice. */
  readonly groupParent: string | undefined;
  /** Limit of every process. */
  readonly openFiles: number;
}

/** Shares of the memory limit. The task's temporary folder is on its disk. */
const RUN_SHARE = 0.0625;
const SHARED_MEMORY_SHARE = 0.125;

/**
 * Process 1 stays until the script has ended and gives the container its exit code, whatever the script does with its own
 * process. A gate that cannot be read lets nothing pass. Its error output, which is that of nerdctl, is closed before the
 * script starts: the script could imitate an error of nerdctl by `/proc/1/fd/2`.
 */
const LAUNCH = `read -r _ < ${INSIDE.gate} || exit 125; exec 2>&1; /bin/sh -c "$1"; exit $?`;

/** Distinguishes tasks from boxes, whose names end with a number. */
export const taskContainerName = (taskId: string): string => `${taskId}.task`;

/** Runs a task in a container of its own to its end; the output is that of the task, and the exit code too. */
export const taskArguments = (
  { taskId, script, env, limits }: TaskSpec,
  instance: string,
  parts: TaskParts,
): string[] => [
  'run',
  '--pull=never',
  `--name=${taskContainerName(taskId)}`,
  `--label=${LABELS.instance}=${instance}`,
  `--cidfile=${parts.idFile}`,
  // The caller gets the output. nerdctl's default also stores it on the host's disk, outside every limit of the task.
  '--log-driver=none',
  // The driver connects it, under its policy, before the gate opens.
  '--network=none',
  ...(parts.groupParent === undefined ? [] : [`--cgroup-parent=${parts.groupParent}`]),
  ...(parts.runtime === undefined ? [] : [`--runtime=${parts.runtime}`]),
  `--userns-remap=${parts.subidUser}`,
  `--user=${parts.role.user.uid}:${parts.role.user.gid}`,
  ...parts.role.options,
  '--read-only',
  `--memory=${limits.memoryBytes}`,
  `--cpus=${limits.cpus}`,
  `--pids-limit=${limits.processes}`,
  `--ulimit=nofile=${parts.openFiles}:${parts.openFiles}`,
  ...SHARED_LIMITS,
  `--shm-size=${Math.floor(limits.memoryBytes * SHARED_MEMORY_SHARE)}`,
  `--tmpfs=/run:mode=0755,size=${Math.floor(limits.memoryBytes * RUN_SHARE)}`,
  `--volume=${parts.kit}:${INSIDE.kit}:ro`,
  `--volume=${parts.code}:${INSIDE.code}:rw`,
  `--volume=${parts.tmp}:${INSIDE.tmp}:rw`,
  `--volume=${parts.tmp}:/var/tmp:rw`,
  `--volume=${parts.resolvConf}:/etc/resolv.conf:ro`,
  `--volume=${parts.gate}:${INSIDE.gate}:ro`,
  ...Object.entries({
    LANG: 'C.UTF-8',
    ...env,
    PATH: insidePathsOf(SYSTEM_PATH, null).path,
    HOME: INSIDE.tmp,
    TMPDIR: INSIDE.tmp,
  }).map(([name, value]) => `--env=${name}=${value}`),
  `--workdir=${INSIDE.code}`,
  '--entrypoint=/bin/sh',
  parts.image,
  '-c',
  LAUNCH,
  'sh',
  script,
];

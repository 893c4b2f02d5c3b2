import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { detach } from '@berth/kernel';
import { guestEnv } from '@berth/guest-protocol';
import { diskBytes } from '../../disk-bytes.js';
import type { RunAs } from '../driver.js';
import { DriverError } from '../driver-error.js';
import type { TaskEnd, TaskSpec } from '../task-spec.js';
import { grantFolder, reclaimFolder } from '../code-folder.js';
import { toolExists } from './launch-guest.js';
import { launchScript } from './launch-script.js';
import type { ProcessGroup } from './process-group.js';
import type { TaskWorkspace, WorkspaceMounts } from './workspace-mounts.js';

/** The dependencies of a task of the process driver. */
export interface TaskMeans {
  readonly processGroup: ProcessGroup;
  readonly workspaceMounts: WorkspaceMounts;
  readonly noNewPrivileges: boolean;
  /** Prefix of the mark that every process inherits. */
  readonly markPrefix: string;
  /** null: the task runs as our own user. */
  readonly runAs: RunAs | null;
}

const MEASURE_EVERY_MS = 1_000;
/** How long to wait for the output of a task whose processes are gone. */
const LAST_OUTPUT_MS = 500;

/** Runs a task as processes of this host. The caller releases the user. */
export const runProcessTask = async (
  spec: TaskSpec,
  means: TaskMeans,
  onOutput: (chunk: Buffer) => void,
  signal: AbortSignal,
): Promise<TaskEnd> => {
  const { taskId, folder } = spec;
  const { processGroup, workspaceMounts, runAs } = means;
  if (runAs !== null && !(await toolExists('setpriv')))
    throw new DriverError('spec_unsupported', 'This host lacks setpriv (util-linux), which builds need.');
  await processGroup.kill(taskId);
  const workspace = await workspaceMounts.prepareTask(taskId, folder, runAs, spec.limits.memoryBytes);
  try {
    if (runAs !== null) await grantFolder(folder, runAs);
    return await runIn(workspace, spec, means, onOutput, signal);
  } finally {
    await processGroup.kill(taskId);
    await reclaimFolder(folder, runAs);
    await workspaceMounts.removeTask(taskId);
  }
};

const runIn = async (
  workspace: TaskWorkspace,
  spec: TaskSpec,
  means: TaskMeans,
  onOutput: (chunk: Buffer) => void,
  signal: AbortSignal,
): Promise<TaskEnd> => {
  if (signal.aborted) return { how: 'aborted' };
  const child = await launch(workspace, spec, means);
  child.stdout?.on('data', onOutput);
  const closed = once(child, 'close').catch(() => undefined);
  let end: TaskEnd | undefined;
  const kill = (how: 'aborted' | 'disk_full'): void => {
    end ??= { how };
    // The child may not have joined its group yet.
    const killChild = (): boolean => child.kill('SIGKILL');
    means.processGroup.kill(spec.taskId).then(killChild, killChild);
  };
  const abort = (): void => kill('aborted');
  signal.addEventListener('abort', abort);
  // It may have been aborted during the launch.
  if (signal.aborted) abort();
  using measuring = watchDisk([spec.folder, ...workspace.stores], spec.limits.diskBytes, () =>
    kill('disk_full'),
  );
  void measuring;
  try {
    const [code, killedBy] = (await once(child, 'exit')) as [number | null, string | null];
    await means.processGroup.kill(spec.taskId);
    await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, LAST_OUTPUT_MS))]);
    if (end !== undefined) return end;
    return code === null ? { how: 'killed', signal: killedBy ?? '' } : { how: 'exited', code };
  } finally {
    signal.removeEventListener('abort', abort);
    child.stdout?.destroy();
  }
};

const launch = async (
  { inside, view }: TaskWorkspace,
  { taskId, script, env, limits }: TaskSpec,
  { processGroup, noNewPrivileges, markPrefix, runAs }: TaskMeans,
): Promise<ChildProcess> => {
  const { memoryBytes, processes } = limits;
  const groups = await processGroup.create(taskId, { memoryBytes, processes });
  const asUser =
    runAs === null
      ? []
      : [
          'setpriv',
          `--reuid=${runAs.uid}`,
          `--regid=${runAs.gid}`,
          '--clear-groups',
          '--inh-caps=-all',
          '--',
        ];
  const inFolder = ['/bin/sh', '-c', 'cd "$0" && exec /bin/sh -c "$1" 2>&1', inside.code, script];
  const command = [...asUser, ...inFolder];
  return spawn('/bin/sh', ['-c', launchScript({ groups, view, noNewPrivileges, command })], {
    cwd: '/',
    detached: true,
    // Errors of the launch itself name paths of the host.
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      LANG: 'C.UTF-8',
      ...env,
      PATH: inside.path,
      HOME: inside.tmp,
      TMPDIR: inside.tmp,
      [guestEnv.mark]: `${markPrefix}/${taskId}`,
    },
  });
};

/** Calls `onFull` once the folders together hold more than `limit` bytes. */
const watchDisk = (folders: readonly string[], limit: number, onFull: () => void): Disposable => {
  let over = false;
  const measure = async (): Promise<void> => {
    const total = await diskBytes(...folders).catch(() => 0);
    if (total > limit && !over) onFull();
    else if (!over) timer = setTimeout(() => detach(measure()), MEASURE_EVERY_MS);
  };
  let timer = setTimeout(() => detach(measure()), MEASURE_EVERY_MS);
  return {
    [Symbol.dispose]: () => {
      over = true;
      clearTimeout(timer);
    },
  };
};

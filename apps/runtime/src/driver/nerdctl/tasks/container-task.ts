import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runtimeClassOf } from '@berth/host-requirements';
import { becomesTrue } from '../../../poll.js';
import { DriverError } from '../../driver-error.js';
import { readProcess } from '../../process-table.js';
import type { TaskEnd, TaskSpec } from '../../task-spec.js';
import { limitInotify } from '../inotify-limits.js';
import { toDriverError } from '../nerdctl-failures.js';
import type { NerdctlHost } from '../nerdctl-host.js';
import { taskArguments } from './task-arguments.js';
import type { TaskDisk } from './task-disk.js';
import { TaskGate } from './task-gate.js';
import type { TaskRole } from './task-role.js';

/** A call of nerdctl that lasts as long as its container. */
export interface AttachedCall {
  /** Never rejects. `exitCode`: that of the container; undefined if nerdctl was killed. */
  readonly ended: Promise<{ readonly exitCode: number | undefined; readonly stderr: string }>;
  /** Ends nerdctl, not the container. */
  kill(): void;
}

/** The dependencies of a task. */
export interface ContainerTaskMeans {
  readonly host: Pick<
    NerdctlHost,
    'instance' | 'kit' | 'taskDisks' | 'openFiles' | 'network' | 'cgroups' | 'groups'
  >;
  readonly image: string;
  /** The host's default class. */
  readonly runtimeClass: string;
  readonly subidUser: string;
  readonly role: TaskRole;
  attach(args: readonly string[], onOutput: (chunk: Buffer) => void): AttachedCall;
  /** From then on `stop` knows the container. */
  found(container: string): void;
  /** Kills all processes of the task and removes its container. Errors: `box_stuck`. */
  stop(): Promise<void>;
}

const CREATED_WITHIN_MS = 30_000;
const MEASURE_EVERY_MS = 250;

/** Runs a task in a container of its own. */
export const runContainerTask = async (
  spec: TaskSpec,
  means: ContainerTaskMeans,
  onOutput: (chunk: Buffer) => void,
  signal: AbortSignal,
): Promise<TaskEnd> => {
  const { role } = means;
  const { taskDisks } = means.host;
  await means.stop();
  try {
    const disk = await taskDisks.create(spec.taskId, spec.folder, spec.limits.diskBytes, role.user);
    if (disk === undefined) return { how: 'disk_full' };
    const end = await runOn(disk, spec, means, onOutput, signal);
    await means.stop();
    if (end.how === 'exited') await role.finish(disk, end.code);
    return end;
  } finally {
    await means.stop();
    await taskDisks.release(spec.taskId);
  }
};

const runOn = async (
  disk: TaskDisk,
  spec: TaskSpec,
  means: ContainerTaskMeans,
  onOutput: (chunk: Buffer) => void,
  signal: AbortSignal,
): Promise<TaskEnd> => {
  const { instance, kit, openFiles, taskDisks, network } = means.host;
  const folder = taskDisks.folderOf(spec.taskId);
  const gate = await TaskGate.create(join(folder, 'gate'), disk.owner);
  const idFile = join(folder, 'container');
  if (signal.aborted) return { how: 'aborted' };
  const args = taskArguments(spec, instance, {
    image: means.image,
    runtime: runtimeClassOf(spec.runtimeClass ?? means.runtimeClass).runtime,
    subidUser: means.subidUser,
    groupParent: means.host.groups.parentOf(spec.taskId),
    role: means.role,
    kit: kit.folder,
    code: disk.code,
    tmp: disk.tmp,
    gate: gate.path,
    resolvConf: network.resolvConf,
    idFile,
    openFiles,
  });
  const call = means.attach(args, onOutput);
  try {
    await untilReached(gate, call);
    const container = (await readFile(idFile, 'utf8')).trim();
    means.found(container);
    await prepare(spec, container, means);
    return await passed(gate, disk, means, call, signal);
  } catch (error) {
    call.kill();
    const container = await readFile(idFile, 'utf8').catch(() => '');
    if (container !== '') means.found(container.trim());
    throw error;
  } finally {
    await gate.close();
  }
};

/** Waits until the container has been created and its process 1 is at the gate. */
const untilReached = async (gate: TaskGate, call: AttachedCall): Promise<void> => {
  const failed = call.ended.then(({ stderr }) => {
    throw toDriverError({ stderr, timedOut: false }) ?? new Error(`nerdctl run failed: ${stderr}`);
  });
  const reached = becomesTrue(() => gate.isReached(), CREATED_WITHIN_MS);
  if (!(await Promise.race([reached, failed])))
    throw new DriverError('host_unavailable', 'The container runtime of this host does not respond.');
};

/** Gives the task, which waits at the gate and has one process, its limits and its network under the policy of agents. */
const prepare = async (
  { taskId, network }: TaskSpec,
  container: string,
  { host }: ContainerTaskMeans,
): Promise<void> => {
  const [pid] = await host.cgroups.pids(host.groups.nameOf(taskId, container));
  const first = pid === undefined ? undefined : await readProcess(pid);
  if (first === undefined) throw new Error('The task ended before it began.');
  await Promise.all([
    limitInotify(first),
    network === 'public' ? host.network.connect(taskId, first) : undefined,
  ]);
};

/** Lets the task run from the gate to its end. */
const passed = async (
  gate: TaskGate,
  disk: TaskDisk,
  means: ContainerTaskMeans,
  call: AttachedCall,
  signal: AbortSignal,
): Promise<TaskEnd> => {
  let end: TaskEnd | undefined;
  const kill = (how: 'aborted' | 'disk_full'): void => {
    end ??= { how };
    // nerdctl does not return while containerd does not respond.
    void means.stop().then(call.kill, call.kill);
  };
  const abort = (): void => kill('aborted');
  signal.addEventListener('abort', abort);
  const measuring = setInterval(() => {
    // The disk may be gone by the time of the result.
    void disk.isFull().then(
      (isFull) => isFull && kill('disk_full'),
      () => undefined,
    );
  }, MEASURE_EVERY_MS);
  try {
    if (signal.aborted) abort();
    else await gate.letPass();
    const { exitCode, stderr } = await call.ended;
    if (end !== undefined) return end;
    if (exitCode === undefined || IS_OF_NERDCTL.test(stderr))
      throw toDriverError({ stderr, timedOut: false }) ?? new Error(`nerdctl run failed: ${stderr}`);
    // A program that finds its disk full may end by itself first.
    return exitCode !== 0 && (await disk.isFull()) ? { how: 'disk_full' } : { how: 'exited', code: exitCode };
  } finally {
    clearInterval(measuring);
    signal.removeEventListener('abort', abort);
  }
};

/** The task writes to the output only. */
const IS_OF_NERDCTL = /level=fatal/;

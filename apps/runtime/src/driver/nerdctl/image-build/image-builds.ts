import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../../../remove-tree.js';
import { DriverError } from '../../driver-error.js';
import type { ImageBuildEnd, ImageBuildSpec, TaskEnd, TaskSpec } from '../../task-spec.js';
import type { CallNerdctl, ImageStore, PullPolicy } from '../images/image-store.js';
import { LABELS, removeArguments } from '../nerdctl-arguments.js';
import type { NerdctlHost } from '../nerdctl-host.js';
import { taskContainerName } from '../tasks/task-arguments.js';
import type { TaskRole } from '../tasks/task-role.js';
import { makeLayouts, type BaseLayout } from './base-layouts.js';
import { buildScript, CERTIFICATES, OUTPUT } from './build-script.plan.js';
import { builderMounts, builderRights } from './builder-rights.js';
import { loadLayout } from './image-layout.js';
import { allowNested, profileOf } from './seccomp-profile.plan.js';

/** The dependencies of builds of images. */
export interface ImageBuildMeans {
  readonly host: () => Pick<NerdctlHost, 'instance' | 'buildKit' | 'scratch' | 'taskDisks'>;
  readonly call: CallNerdctl;
  readonly images: Pick<ImageStore, 'have' | 'load' | 'pin' | 'remove' | 'save'>;
  readonly pull: () => PullPolicy;
  readonly subidUser: string;
}

/** Runs a task in a container of its own from an image that is here. */
export type RunTask = (spec: TaskSpec, roleFor: (image: string) => Promise<TaskRole>) => Promise<TaskEnd>;

/** No registry has this name. */
const builtName = (taskId: string): string => `berth.local/build/${taskId}:latest`;

/** Builds Dockerfiles, each with a BuildKit of its own in the container of a task. */
export class ImageBuilds {
  #profile: Promise<string | undefined> | undefined;

  constructor(private readonly means: ImageBuildMeans) {}

  /** Errors: those of `Driver.buildImage`. */
  async build(spec: ImageBuildSpec, runTask: RunTask, signal: AbortSignal): Promise<ImageBuildEnd> {
    const { buildKit } = this.means.host();
    if (buildKit === undefined) throw new DriverError('spec_unsupported', 'This host builds no Dockerfiles.');
    let image: string | undefined;
    try {
      const bases = await this.#basesOf(spec, signal);
      const roleFor = async (base: string): Promise<TaskRole> => ({
        user: { uid: 0, gid: 0 },
        options: [...builderRights(await this.#seccompProfile(base)), ...builderMounts(buildKit, bases)],
        finish: async ({ tmp }, code) => {
          if (code === 0) image = await this.#load(spec.taskId, join(tmp, OUTPUT), signal);
        },
      });
      const { images: _, ...task } = spec;
      const env = buildKit.certificates === undefined ? {} : { SSL_CERT_FILE: CERTIFICATES };
      const end = await runTask({ ...task, script: buildScript(bases), env }, roleFor);
      return image === undefined ? end : { how: 'built', image };
    } catch (error) {
      await this.remove(spec.taskId);
      throw error;
    } finally {
      await removeTree(this.#folderOf(spec.taskId));
    }
  }

  /** Deletes the image of that build; a no-op if there is none. Errors: `host_unavailable`. */
  async remove(taskId: string): Promise<void> {
    await this.means.images.remove(builtName(taskId));
    await removeTree(this.#folderOf(taskId));
  }

  async #basesOf({ taskId, images }: ImageBuildSpec, signal: AbortSignal): Promise<readonly BaseLayout[]> {
    const folder = this.#folderOf(taskId);
    await removeTree(folder);
    await mkdir(folder, { recursive: true, mode: 0o711 });
    return makeLayouts(images, folder, this.means.images, this.means.pull(), signal);
  }

  /** For what a build reads, which is not on its disk. */
  #folderOf(taskId: string): string {
    return join(this.means.host().scratch, taskId);
  }

  async #load(taskId: string, layout: string, signal: AbortSignal): Promise<string> {
    const { images, host } = this.means;
    const name = builtName(taskId);
    const folder = join(host().taskDisks.folderOf(taskId), 'load');
    await loadLayout(layout, name, folder, (archive, either) => images.load(archive, either), signal);
    return images.pin(name, 'never', false, signal);
  }

  /** A file with the profile; undefined: containers of this host have none. */
  #seccompProfile(image: string): Promise<string | undefined> {
    this.#profile ??= this.#makeProfile(image).catch((error: unknown) => {
      this.#profile = undefined;
      throw error;
    });
    return this.#profile;
  }

  /** containerd makes its profile for the rights of a container, so that only a container tells it. */
  async #makeProfile(image: string): Promise<string | undefined> {
    const { call, host, subidUser } = this.means;
    const { instance, scratch } = host();
    const name = taskContainerName('seccomp');
    await call(removeArguments([name])).catch(() => undefined);
    await call([
      'create',
      '--pull=never',
      `--name=${name}`,
      `--label=${LABELS.instance}=${instance}`,
      '--network=none',
      `--userns-remap=${subidUser}`,
      ...builderRights(undefined),
      image,
      'true',
    ]);
    const inspected = await call(['container', 'inspect', '--mode=native', name]);
    await call(removeArguments([name]));
    const profile = profileOf(inspected);
    if (profile === undefined) return undefined;
    const file = join(scratch, 'seccomp-of-builds.json');
    const making = `${file}.new`;
    await rm(making, { force: true });
    await writeFile(making, JSON.stringify(allowNested(profile)), { mode: 0o600 });
    await rename(making, file);
    return file;
  }
}

import type { BuildOrigin, BuildVersion } from '@berth/contracts/runtime';
import { Logger } from '@berth/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import { RuntimeConfig } from '../config.js';
import { Driver } from '../driver/driver.js';
import { DriverError } from '../driver/driver-error.js';
import { networkOf } from '../driver/requirements.plan.js';
import type { ImageBuildSpec } from '../driver/task-spec.js';
import { limitsOf } from '../agent/box-spec-of.js';
import { HostTemplates } from '../agent/host-templates.js';
import { lastingOptionsOf, type LastingOptions } from '../agent/lasting-options.js';
import { SystemLog } from '../logs/system-log.js';
import { baseImagesOf } from './base-images.js';
import { BuildFailure } from './build-failure.js';
import { BuildLog } from './build-log.js';
import { BuildSummary } from './build-summary.js';
import { clone } from './git/clone.js';
import { removeTree } from '../remove-tree.js';
import { planStart, type StartPlan } from './starts-with.plan.js';
import { readDockerfile, readTopFiles } from './top-files.js';
import { problemOf } from './task-problem.js';
import { VersionStore, type BuiltCommand, type StoredBuild } from './version-store.js';

/** Disk space for the tree, in addition to the agent's disk. */
const TREE_BYTES = 1024 ** 3;
/** For each process of git. A file that a remote sends as a change to another one takes twice its size. */
const GIT_MEMORY_BYTES = 1024 ** 3;
/** Additional space for images and layers: usual languages take 1 to 2 GB, and a build stores them twice. */
const IMAGE_BYTES = 8 * 1024 ** 3;

/** A build with what the agent's template says about its container. */
interface RestrictedBuild extends BuildVersion {
  readonly container: LastingOptions;
}

/** Builds one version, from the clone to code that an agent can start. */
@Injectable()
export class VersionBuild {
  constructor(
    private readonly driver: Driver,
    private readonly versions: VersionStore,
    @Inject(HostTemplates) private readonly templates: Pick<HostTemplates, 'get'>,
    private readonly systemLog: SystemLog,
    @Inject(RuntimeConfig) private readonly settings: Pick<RuntimeConfig, 'builds' | 'operator'>,
    private readonly log: Logger,
  ) {}

  /** Never rejects. An abort of `cancelled` ends the build as `interrupted` and deletes its files. */
  async run(request: BuildVersion, cancelled: AbortSignal): Promise<StoredBuild> {
    const { agentId, deploymentId, origin } = request;
    const late = AbortSignal.timeout(this.settings.builds.timeoutSeconds * 1000);
    const signal = AbortSignal.any([cancelled, late]);
    const buildLog = new BuildLog(agentId, this.systemLog);
    try {
      const restricted = { ...request, container: await this.#containerOf(request) };
      return origin.kind === 'image'
        ? await this.#pull(restricted, origin, buildLog, signal)
        : await this.#build(restricted, origin, buildLog, signal);
    } catch (error) {
      const failure = this.#failureOf(error, late, cancelled);
      if (!(error instanceof BuildFailure) && !signal.aborted)
        this.log.error({ agentId, deploymentId, err: error }, 'a build failed unexpectedly');
      buildLog.add('error', failure.message);
      await this.versions.discard(request).catch((cause: unknown) => {
        this.log.error({ agentId, deploymentId, err: cause }, 'could not delete what a build left');
      });
      return { state: 'failed', code: failure.code, message: failure.message };
    } finally {
      await buildLog.flush();
    }
  }

  async #pull(
    { container }: RestrictedBuild,
    { image, insecure }: BuildOriginOf<'image'>,
    log: BuildLog,
    signal: AbortSignal,
  ): Promise<StoredBuild> {
    log.add('info', `Pulling ${image}.`);
    const pinned = await this.driver.pinImage(image, insecure, signal);
    log.add('info', `Pulled ${pinned}.`);
    return { state: 'built', image: pinned, version: { image: pinned, container } };
  }

  async #build(
    request: RestrictedBuild,
    { repoUrl: url, addresses, token, branch }: BuildOriginOf<'git'>,
    log: BuildLog,
    signal: AbortSignal,
  ): Promise<StoredBuild> {
    const folder = this.versions.codeFolder(request);
    log.add('info', `Fetching ${url}.`);
    const { caFile, path } = this.settings.builds;
    const cloned = await clone(
      {
        remote: { url, addresses, token },
        branch,
        folder,
        scratch: this.versions.scratch(request),
        caFile,
        path,
        memoryBytes: GIT_MEMORY_BYTES,
      },
      signal,
    );
    log.add('info', `Fetched commit ${cloned.commit} of ${cloned.branch}.`);
    const plan = planStart(await readTopFiles(folder), this.driver.capabilities.refusesDockerfiles);
    if ('refusal' in plan) throw new BuildFailure('cannot_start_repository', plan.refusal);
    const version =
      'dockerfile' in plan
        ? { image: await this.#buildImage(request, folder, log, signal) }
        : await this.#runSteps(request, folder, plan, log, signal);
    log.add('info', `Built commit ${cloned.commit} of ${cloned.branch}.`);
    return { state: 'built', ...cloned, version: { ...version, container: request.container } };
  }

  /** The image contains what the version needs of the code. */
  async #buildImage(
    request: RestrictedBuild,
    folder: string,
    log: BuildLog,
    signal: AbortSignal,
  ): Promise<string> {
    log.add('info', '$ docker build .');
    const { registries } = this.settings.operator.current.deploy;
    const images = baseImagesOf(await readDockerfile(folder), registries);
    const summary = new BuildSummary();
    const onOutput = (chunk: Buffer): void => {
      log.addOutput(chunk);
      summary.add(chunk);
    };
    const bounds = this.#boundsOf(request, folder);
    const limits = { ...bounds.limits, diskBytes: bounds.limits.diskBytes + IMAGE_BYTES };
    const end = await this.driver.buildImage({ ...bounds, limits, images }, onOutput, signal);
    signal.throwIfAborted();
    if (end.how !== 'built') throw new BuildFailure('build_failed', summary.problemOf(end));
    await removeTree(folder);
    return end.image;
  }

  #boundsOf(
    { deploymentId, resources, container }: RestrictedBuild,
    folder: string,
  ): Omit<ImageBuildSpec, 'images'> {
    const limits = limitsOf(resources, this.settings.operator.current.runtime.pidsLimit);
    return {
      taskId: deploymentId,
      folder,
      limits: { ...limits, diskBytes: limits.diskBytes + TREE_BYTES },
      network: networkOf(container.network, this.driver.capabilities),
      runtimeClass: container.runtimeClass,
    };
  }

  /** Of a template that the operator has removed, the agent's versions still have the options. */
  async #containerOf({ agentId, templateId, keep }: BuildVersion): Promise<LastingOptions> {
    const template = templateId === undefined ? undefined : this.templates.get(templateId);
    if (template !== undefined || templateId === undefined) return lastingOptionsOf(template);
    for (const deploymentId of keep) {
      const { container } = (await this.versions.find({ agentId, deploymentId })) ?? {};
      if (container !== undefined) return container;
    }
    throw new BuildFailure(
      'build_failed',
      `This host has no template "${templateId}", which limits the build.`,
    );
  }

  /** Without a step too, the folder passes through a task, which closes it to writers. */
  async #runSteps(
    request: RestrictedBuild,
    folder: string,
    { build, start, env }: StartPlan,
    log: BuildLog,
    signal: AbortSignal,
  ): Promise<BuiltCommand> {
    for (const step of build.length === 0 ? [':'] : build) {
      if (build.length > 0) log.add('info', `$ ${step}`);
      const spec = { ...this.#boundsOf(request, folder), script: step, env: { ...env, CI: 'true' } };
      const end = await this.driver.runTask(spec, (chunk) => log.addOutput(chunk), signal);
      signal.throwIfAborted();
      const problem = problemOf(end);
      if (problem !== null) throw new BuildFailure('build_failed', `\`${firstLine(step)}\` ${problem}.`);
    }
    return { start, env };
  }

  #failureOf(error: unknown, late: AbortSignal, cancelled: AbortSignal): BuildFailure {
    if (error instanceof BuildFailure) return error;
    if (cancelled.aborted) return new BuildFailure('interrupted', 'The build was ended.');
    const { timeoutSeconds } = this.settings.builds;
    if (late.aborted)
      return new BuildFailure('build_timeout', `The build took longer than ${timeoutSeconds} s.`);
    const code = error instanceof DriverError ? error.code : undefined;
    if (error instanceof DriverError && code === 'image_unavailable')
      return new BuildFailure(code, error.message, { cause: error });
    const isForOwner = code === 'spec_unsupported' || code === 'runtime_class_unavailable';
    const message = error instanceof DriverError && isForOwner ? error.message : NOT_RUN;
    return new BuildFailure('build_failed', message);
  }
}

const NOT_RUN = 'The host could not run the build.';

type BuildOriginOf<Kind extends BuildOrigin['kind']> = Extract<BuildOrigin, { readonly kind: Kind }>;

const firstLine = (script: string): string => {
  const [line = ''] = script.trim().split('\n');
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
};

import type { BuildOrigin, BuildVersion } from '@berth/contracts/runtime';
import { Logger } from '@berth/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import { RuntimeConfig } from '../config.js';
import { Driver } from '../driver/driver.js';
import { DriverError } from '../driver/driver-error.js';
import { widestNetwork } from '../driver/requirements.plan.js';
import type { TaskEnd } from '../driver/task-spec.js';
import { limitsOf } from '../agent/box-spec-of.js';
import { SystemLog } from '../logs/system-log.js';
import { BuildFailure } from './build-failure.js';
import { BuildLog } from './build-log.js';
import { clone } from './git/clone.js';
import { planStart, type StartPlan } from './starts-with.plan.js';
import { readTopFiles } from './top-files.js';
import { VersionStore, type StoredBuild } from './version-store.js';

/** What a tree may take besides the agent's disk. */
const TREE_BYTES = 1024 ** 3;

/** Builds one version, from the clone to code that an agent can start. */
@Injectable()
export class VersionBuild {
  constructor(
    private readonly driver: Driver,
    private readonly versions: VersionStore,
    private readonly systemLog: SystemLog,
    @Inject(RuntimeConfig) private readonly settings: Pick<RuntimeConfig, 'builds' | 'operator'>,
    private readonly log: Logger,
  ) {}

  /** Never rejects. An abort of `cancelled` ends as `interrupted`, of which nothing is kept. */
  async run(request: BuildVersion, cancelled: AbortSignal): Promise<StoredBuild> {
    const { agentId, deploymentId } = request;
    const late = AbortSignal.timeout(this.settings.builds.timeoutSeconds * 1000);
    const signal = AbortSignal.any([cancelled, late]);
    const buildLog = new BuildLog(agentId, this.systemLog);
    try {
      const { origin } = request;
      return origin.kind === 'image'
        ? await this.#pull(origin, buildLog, signal)
        : await this.#build(request, origin, buildLog, signal);
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
    { image, insecure }: BuildOriginOf<'image'>,
    log: BuildLog,
    signal: AbortSignal,
  ): Promise<StoredBuild> {
    log.add('info', `Pulling ${image}.`);
    const pinned = await this.driver.pinImage(image, insecure, signal);
    log.add('info', `Pulled ${pinned}.`);
    return { state: 'built', image: pinned, version: { image: pinned } };
  }

  async #build(
    request: BuildVersion,
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
      },
      signal,
    );
    log.add('info', `Fetched commit ${cloned.commit} of ${cloned.branch}.`);
    const plan = planStart(await readTopFiles(folder));
    if ('refusal' in plan) throw new BuildFailure('cannot_start_repository', plan.refusal);
    await this.#runSteps(request, folder, plan, log, signal);
    const { start, env } = plan;
    log.add('info', `Built commit ${cloned.commit} of ${cloned.branch}.`);
    return { state: 'built', ...cloned, version: { start, env } };
  }

  /** Without a step too, the folder passes through a task, which closes it to writers. */
  async #runSteps(
    { deploymentId, resources }: BuildVersion,
    folder: string,
    { build, env }: StartPlan,
    log: BuildLog,
    signal: AbortSignal,
  ): Promise<void> {
    const limits = limitsOf(resources, this.settings.operator.current.runtime.pidsLimit);
    for (const step of build.length === 0 ? [':'] : build) {
      if (build.length > 0) log.add('info', `$ ${step}`);
      const spec = {
        taskId: deploymentId,
        folder,
        script: step,
        env: { ...env, CI: 'true' },
        limits: { ...limits, diskBytes: limits.diskBytes + TREE_BYTES },
        network: widestNetwork(this.driver.capabilities),
      };
      const end = await this.driver.runTask(spec, (chunk) => log.addOutput(chunk), signal);
      signal.throwIfAborted();
      const problem = problemOf(end);
      if (problem !== null) throw new BuildFailure('build_failed', `\`${firstLine(step)}\` ${problem}.`);
    }
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
    const message = error instanceof DriverError && code === 'spec_unsupported' ? error.message : NOT_RUN;
    return new BuildFailure('build_failed', message);
  }
}

const NOT_RUN = 'The host could not run the build.';

type BuildOriginOf<Kind extends BuildOrigin['kind']> = Extract<BuildOrigin, { readonly kind: Kind }>;

/** null: the step succeeded. */
const problemOf = (end: TaskEnd): string | null => {
  switch (end.how) {
    case 'exited':
      if (end.code === 0) return null;
      return end.code === 137
        ? 'was killed; it may have needed more memory than the agent has'
        : `exited with code ${end.code}`;
    case 'killed':
      return end.signal === 'SIGKILL'
        ? 'was killed; it may have needed more memory than the agent has'
        : `was ended by ${end.signal}`;
    case 'disk_full':
      return 'stored more than a build may';
    case 'aborted':
      return 'was ended';
  }
};

const firstLine = (script: string): string => {
  const [line = ''] = script.trim().split('\n');
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
};

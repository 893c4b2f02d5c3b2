import type { StartAgent } from '@berth/contracts/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { VersionStore } from '../build/version-store.js';
import { agentStartFailed } from './agent-refusals.js';
import type { StartCode } from './box-spec-of.js';
import { HostTemplates } from './host-templates.js';
import { lastingOptionsOf, UNRESTRICTED, type LastingOptions } from './lasting-options.js';

/** Finds on this host what an agent starts with. */
@Injectable()
export class StartCodes {
  constructor(
    @Inject(HostTemplates) private readonly templates: Pick<HostTemplates, 'get'>,
    @Inject(VersionStore) private readonly versions: Pick<VersionStore, 'find' | 'codeFolder'>,
  ) {}

  /** Errors: upstream `agent_start_failed`. */
  async of({
    agentId,
    source,
    templateId,
  }: Pick<StartAgent, 'agentId' | 'source' | 'templateId'>): Promise<StartCode> {
    switch (source.kind) {
      case 'template':
        return this.#ofTemplate(source.name, source.version);
      case 'desktop':
        return codeOfDesktop(source.version);
      case 'git':
      case 'image':
        return this.#ofBuild({ agentId, deploymentId: source.deploymentId }, source.version, templateId);
    }
  }

  /** Variables of a version, which the owner's replace. */
  async envOf({
    agentId,
    deploymentId,
  }: {
    readonly agentId: string;
    readonly deploymentId: string | null;
  }): Promise<StartCode['env']> {
    if (deploymentId === null) return {};
    const version = await this.versions.find({ agentId, deploymentId });
    return version !== undefined && 'env' in version ? version.env : {};
  }

  #ofTemplate(name: string, version: number): StartCode {
    const template = this.templates.get(name);
    if (template === undefined) throw agentStartFailed(`This host has no template "${name}".`);
    return {
      source: {
        kind: 'template',
        version,
        name: template.id,
        folder: template.folder,
        image: template.container.image,
      },
      command: template.program?.command ?? null,
      generation: template.generation,
      env: {},
      container: template.container,
    };
  }

  async #ofBuild(
    ref: { readonly agentId: string; readonly deploymentId: string },
    version: number,
    templateId: string | undefined,
  ): Promise<StartCode> {
    const built = await this.versions.find(ref);
    if (built === undefined) throw agentStartFailed('This host does not have the code of this version.');
    const template = templateId === undefined ? undefined : this.templates.get(templateId);
    const options = lastingOptionsOf(template, built.container);
    if ('image' in built) return codeOfImage(ref.deploymentId, version, built.image, options);
    const folder = this.versions.codeFolder(ref);
    return {
      source: { kind: 'build', version, deploymentId: ref.deploymentId, folder },
      command: ['/bin/sh', '-c', built.start],
      generation: 'current',
      env: built.env,
      container: { ...options, root: false, writableRoot: false },
    };
  }
}

/** The guest starts the programs of a desktop itself. */
const codeOfDesktop = (version: number): StartCode => ({
  source: { kind: 'desktop', version },
  command: null,
  generation: 'current',
  env: {},
  container: { ...UNRESTRICTED, root: false, writableRoot: false },
});

/** The image defines the start command; it may be root if the driver permits it. */
const codeOfImage = (
  deploymentId: string,
  version: number,
  reference: string,
  options: LastingOptions,
): StartCode => ({
  source: { kind: 'image', version, deploymentId, reference },
  command: null,
  generation: 'current',
  env: {},
  container: { ...options, root: false, writableRoot: true },
});

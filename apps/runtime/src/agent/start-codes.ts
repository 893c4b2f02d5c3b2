import type { StartAgent } from '@berth/contracts/runtime';
import { Injectable } from '@nestjs/common';
import { VersionStore } from '../build/version-store.js';
import { agentStartFailed } from './agent-refusals.js';
import type { StartCode } from './box-spec-of.js';
import { HostTemplates } from './host-templates.js';

/** A deployed version has no template that would say anything. */
const NO_OPTIONS = { root: false, writableRoot: false, runtimeClass: null, network: null } as const;

/** Finds on this host what an agent starts with. */
@Injectable()
export class StartCodes {
  constructor(
    private readonly templates: HostTemplates,
    private readonly versions: VersionStore,
  ) {}

  /** Errors: upstream `agent_start_failed`. */
  async of({ agentId, source }: Pick<StartAgent, 'agentId' | 'source'>): Promise<StartCode> {
    switch (source.kind) {
      case 'template':
        return this.#ofTemplate(source.name, source.version);
      case 'git':
      case 'image':
        return this.#ofBuild({ agentId, deploymentId: source.deploymentId }, source.version);
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
  ): Promise<StartCode> {
    const built = await this.versions.find(ref);
    if (built === undefined) throw agentStartFailed('This host does not have the code of this version.');
    if ('image' in built) return codeOfImage(ref.deploymentId, version, built.image);
    const folder = this.versions.codeFolder(ref);
    return {
      source: { kind: 'build', version, deploymentId: ref.deploymentId, folder },
      command: ['/bin/sh', '-c', built.start],
      generation: 'current',
      env: built.env,
      container: NO_OPTIONS,
    };
  }
}

/** The image defines the start command; it may be root if the driver permits it. */
const codeOfImage = (deploymentId: string, version: number, reference: string): StartCode => ({
  source: { kind: 'image', version, deploymentId, reference },
  command: null,
  generation: 'current',
  env: {},
  container: { ...NO_OPTIONS, writableRoot: true },
});

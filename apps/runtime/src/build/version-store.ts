import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { BuildRef, BuildState } from '@berth/contracts/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { agentFolders } from '../agent/agent-folders.js';
import type { LastingOptions } from '../agent/lasting-options.js';
import { RuntimeConfig } from '../config.js';
import { unfinishedOf } from '../driver/code-folder.js';
import { Driver } from '../driver/driver.js';
import { readStored, writeDurably } from '../durable-file.js';
import { removeTree } from '../remove-tree.js';

/** How a version starts. */
export type BuiltCommand =
  | {
      /** For `sh`, in the folder of the code. */
      readonly start: string;
      /** Variables that the owner's replace. */
      readonly env: Readonly<Record<string, string>>;
    }
  | {
      /** Reference of an image, with its digest; the image says how it starts. */
      readonly image: string;
    };

/** What a start needs to know of a version. `container`: as the agent's template had it when the version was built. */
export type BuiltVersion = BuiltCommand & { readonly container?: LastingOptions };

/** A build on disk. One that is `building` and that no process carries out was interrupted. */
export type StoredBuild =
  | { readonly state: 'building' }
  | (Extract<BuildState, { readonly state: 'built' }> & { readonly version: BuiltVersion })
  | Extract<BuildState, { readonly state: 'failed' }>;

/** The versions of agents on this host: their code, and how their builds ended. */
@Injectable()
export class VersionStore {
  private readonly dataDir: string;

  constructor(
    private readonly driver: Driver,
    @Inject(RuntimeConfig) { dataDir }: Pick<RuntimeConfig, 'dataDir'>,
  ) {
    this.dataDir = dataDir;
  }

  async read(ref: BuildRef): Promise<StoredBuild | undefined> {
    return readStored(this.#file(ref), { description: 'a build of an agent', parse: parseBuild });
  }

  async save(ref: BuildRef, build: StoredBuild): Promise<void> {
    await mkdir(this.#folder(ref.agentId), { recursive: true, mode: 0o700 });
    await writeDurably(this.#file(ref), JSON.stringify(build));
  }

  /** How to start a version; undefined if this host does not have it. */
  async find(ref: BuildRef): Promise<BuiltVersion | undefined> {
    const build = await this.read(ref);
    return build?.state === 'built' ? build.version : undefined;
  }

  codeFolder({ agentId, deploymentId }: BuildRef): string {
    return this.driver.codeFolder(agentId, deploymentId);
  }

  /** A folder for what only the build needs. */
  scratch(ref: BuildRef): string {
    return join(this.#folder(ref.agentId), `${ref.deploymentId}.scratch`);
  }

  /** Deletes the code of a build, with what it left elsewhere, unfinished copies too; the record stays. */
  async discard(ref: BuildRef): Promise<void> {
    await this.driver.remove(ref.deploymentId);
    const code = this.codeFolder(ref);
    await removeTree(code);
    await removeTree(unfinishedOf(code));
    await removeTree(this.scratch(ref));
    if (mayHaveBuiltImage(await this.read(ref))) await this.driver.removeBuiltImage(ref.deploymentId);
  }

  /** Deletes all builds of the agent but those. */
  async prune(agentId: string, keep: readonly string[]): Promise<void> {
    const names = await readdir(this.#folder(agentId)).catch(() => []);
    const stored = names
      .filter((name) => name.endsWith('.json'))
      .map((name) => name.slice(0, -'.json'.length));
    for (const deploymentId of stored.filter((id) => !keep.includes(id))) {
      await this.discard({ agentId, deploymentId });
      await removeTree(this.#file({ agentId, deploymentId }));
    }
  }

  #folder(agentId: string): string {
    return join(agentFolders(this.dataDir, agentId).root, 'builds');
  }

  #file({ agentId, deploymentId }: BuildRef): string {
    return join(this.#folder(agentId), `${deploymentId}.json`);
  }
}

/** Pulled images belong to the host. A build that failed has deleted its image; one that was interrupted may not have. */
const mayHaveBuiltImage = (stored: StoredBuild | undefined): boolean => {
  if (stored?.state === 'built') return 'commit' in stored && 'image' in stored.version;
  return stored?.state === 'building';
};

const STATES: readonly unknown[] = ['building', 'built', 'failed'] satisfies StoredBuild['state'][];

const parseBuild = (json: unknown): StoredBuild | undefined =>
  typeof json === 'object' && json !== null && 'state' in json && STATES.includes(json.state)
    ? (json as StoredBuild)
    : undefined;

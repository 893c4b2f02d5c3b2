import type { AgentSource, DeployedSource } from './agent-source.js';

/** The versions of an agent that its next starts may run. */
export interface Versions {
  /** The highest version number given so far. */
  readonly latest: number;
  /** A version that has never run, which the next start runs; null: the next start runs the agent's source. */
  readonly next: AgentSource | null;
  /** The versions to return to if `next` does not start, latest first; the first one has run. Empty without `next`. */
  readonly before: readonly AgentSource[];
  /** The last version that did not start. */
  readonly abandoned: { readonly deploymentId: string; readonly message: string } | null;
}

/** The maximum number of stored versions that never ran; the latest version that has run is stored in addition. */
const KEPT_UNTRIED = 4;

export const firstVersion: Versions = { latest: 1, next: null, before: [], abandoned: null };

/** The source that the next start runs. */
export const startsWith = ({
  source,
  versions,
}: {
  readonly source: AgentSource;
  readonly versions: Versions;
}): AgentSource => versions.next ?? source;

/** The source of a version of the agent that it may still start. */
export const sourceOf = (
  agent: { readonly source: AgentSource; readonly versions: Versions },
  version: number,
): AgentSource =>
  [agent.source, ...agent.versions.before].find((source) => source.version === version) ?? startsWith(agent);

/** Whether the next start runs a version that has never run. */
export const isUntried = ({ next }: Versions, version: number): boolean => next?.version === version;

export const prepare = (versions: Versions, source: AgentSource, prepared: DeployedSource): Versions => {
  const [tried, ...untried] = [...versions.before, versions.next ?? source];
  const before = tried === undefined ? [] : [tried, ...untried.slice(-KEPT_UNTRIED)];
  return { ...versions, latest: prepared.version, next: prepared, before };
};

export const started = (versions: Versions, version: number): Versions =>
  isUntried(versions, version) ? { ...versions, next: null, before: [] } : versions;

export const abandon = (
  versions: Versions,
  { deploymentId, message }: { readonly deploymentId: string; readonly message: string },
): Versions => {
  const before = versions.before.slice(0, -1);
  const next = before.length > 0 ? (versions.before.at(-1) ?? null) : null;
  return { ...versions, next, before, abandoned: { deploymentId, message } };
};

/** Deployments whose code the agent may still start. */
export const deploymentsInUse = (agent: {
  readonly source: AgentSource;
  readonly versions: Versions;
}): readonly string[] =>
  [agent.source, agent.versions.next, ...agent.versions.before].flatMap((source) =>
    source === null || source.kind === 'template' ? [] : [source.deploymentId],
  );

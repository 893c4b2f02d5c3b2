/**
 * What the agent runs. `version` counts the agent's own versions: the agent is created with version 1, and each deployment
 * makes the next, so that a host can tell two versions apart and return to the previous one.
 */
export type AgentSource =
  | { readonly kind: 'template'; readonly version: number; readonly name: string }
  | {
      readonly kind: 'git';
      readonly version: number;
      readonly deploymentId: string;
      readonly repoUrl: string;
      readonly branch: string;
      readonly commit: string;
    }
  | {
      readonly kind: 'image';
      readonly version: number;
      readonly deploymentId: string;
      /** Reference with its digest. */
      readonly image: string;
    };

/** A source that a deployment has made. */
export type DeployedSource = Exclude<AgentSource, { readonly kind: 'template' }>;

/** The source of an agent that is created from a template. */
export const templateSource = (name: string): AgentSource => ({ kind: 'template', version: 1, name });

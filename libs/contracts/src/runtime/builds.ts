/** Why a build fails; `agents` tells what each means to the owner. */
export type BuildFailureCode =
  | 'clone_failed'
  | 'branch_not_found'
  | 'repo_too_large'
  | 'cannot_start_repository'
  | 'image_unavailable'
  | 'build_failed'
  | 'build_timeout'
  | 'interrupted';

/** The origin of a version's code. */
export type BuildOrigin =
  | {
      readonly kind: 'git';
      /** An http or https URL without user and password. */
      readonly repoUrl: string;
      /** Addresses of the URL's host: the clone connects to these and no others. */
      readonly addresses: readonly string[];
      /** null: the one that HEAD of the repository names. */
      readonly branch: string | null;
      /** Password of the clone. */
      readonly token: string | null;
    }
  | {
      readonly kind: 'image';
      /** Reference of a container image. */
      readonly image: string;
      /** Whether its registry may be reached without TLS. */
      readonly insecure: boolean;
    };

/** The result of a build: a commit, or the reference of an image with its digest. */
export type BuiltCode = { readonly branch: string; readonly commit: string } | { readonly image: string };

/**
 * The build of a deployment. The host builds each deployment once; a repeated request joins the build. Contains a
 * secret: never logged.
 */
export interface BuildVersion {
  readonly agentId: string;
  readonly deploymentId: string;
  readonly origin: BuildOrigin;
  /** The agent's template, which says under which network and runtime class the build runs. */
  readonly templateId?: string;
  readonly resources: { readonly memMb: number; readonly vcpus: number; readonly diskGb: number };
  /** Deployments of the agent whose code is still needed; the host deletes the others. */
  readonly keep: readonly string[];
  /** The state that the caller knows: the reply comes when there is another one, after 20 s at the latest. */
  readonly seen: 'waiting' | 'building';
}

export type BuildState =
  /** `waiting`: for other builds of the host. */
  | { readonly state: 'waiting' | 'building' }
  | ({ readonly state: 'built' } & BuiltCode)
  | { readonly state: 'failed'; readonly code: BuildFailureCode; readonly message: string };

export interface BuildRef {
  readonly agentId: string;
  readonly deploymentId: string;
}

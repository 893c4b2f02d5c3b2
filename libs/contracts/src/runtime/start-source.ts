/**
 * The code that an agent starts with. `version` counts the versions of one agent from 1; a host never has two contents
 * for one version of an agent. Not every driver runs every kind.
 */
export type StartSource =
  /** A template that the host has, by its id. */
  | { readonly kind: 'template'; readonly version: number; readonly name: string }
  /** The result of building a commit of a Git repository. `deploymentId` names the build. */
  | {
      readonly kind: 'git';
      readonly version: number;
      readonly deploymentId: string;
      readonly repoUrl: string;
      readonly branch: string;
      readonly commit: string;
    }
  /** The desktop of a computer, made of what the host has for desktops. */
  | { readonly kind: 'desktop'; readonly version: number }
  /** `image` is a reference with its digest. */
  | {
      readonly kind: 'image';
      readonly version: number;
      readonly deploymentId: string;
      readonly image: string;
    };

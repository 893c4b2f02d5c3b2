/** The code of a box. `version` counts the versions of one agent, so that a driver can distinguish them. */
export type BoxSource =
  /** The files of a template, in a folder of the host. */
  | {
      readonly kind: 'template';
      readonly version: number;
      readonly name: string;
      readonly folder: string;
      /** The image of its containers; null: the host's default. */
      readonly image: string | null;
    }
  /** The result of a build: a folder of the host. */
  | {
      readonly kind: 'build';
      readonly version: number;
      readonly deploymentId: string;
      readonly folder: string;
    }
  /** An image of a registry or of a build, by a reference with its digest. */
  | {
      readonly kind: 'image';
      readonly version: number;
      readonly deploymentId: string;
      readonly reference: string;
    }
  /** The desktop of a computer, made of what this host has for desktops. */
  | { readonly kind: 'desktop'; readonly version: number };

/** Limits of all processes of a box together, without the guest where the driver can account for it separately. */
export interface BoxLimits {
  readonly memoryBytes: number;
  /** Processors; may be a fraction. */
  readonly cpus: number;
  /** Processes and threads. */
  readonly processes: number;
  /** Size of the volume. */
  readonly diskBytes: number;
}

/** Folders of the host for the guest, which the agent's own processes cannot enter. They exist when a box starts. */
export interface GuestFolders {
  /** For the guest's socket. */
  readonly run: string;
  readonly logs: string;
  readonly journal: string;
}

/**
 * Everything that a driver knows about a box. Contains no secrets; those go to the guest over its socket. The driver
 * provides the guest, which is the entry point of every box, and chooses the paths inside (`InsidePaths`).
 */
export interface BoxSpec {
  /** `agt_…` or `cmp_…`: names the box. An agent or computer has at most one box at a time. */
  readonly agentId: string;
  /** The epoch that the box is started for; `Driver.list` returns it. */
  readonly epoch: number;
  readonly source: BoxSource;
  /** The agent's own program; null if the source has none, or if the image says how to start it. */
  readonly command: readonly [string, ...string[]] | null;
  /** Settings of the guest, as the environment that it starts with. */
  readonly env: Readonly<Record<string, string>>;
  readonly guestFolders: GuestFolders;
  readonly limits: BoxLimits;
  /** The user of the agent's processes. `root` is root of a user namespace, never root of the host. */
  readonly user: 'unprivileged' | 'root';
  /** A writable one is kept until the source or its image changes. Drivers without containers ignore it. */
  readonly rootFileSystem: 'read-only' | 'writable';
  /** null: the host's default. Drivers without containers ignore it. */
  readonly runtimeClass: string | null;
  readonly network: 'public' | 'none';
  /** Where the box sees its volume; null: the driver's choice. Drivers without containers ignore it. */
  readonly volumePath: string | null;
}

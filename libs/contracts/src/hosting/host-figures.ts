/** Capacity of a host: memory in MB, disk in GB (2^30 bytes). */
export interface Capacity {
  readonly total: number;
  readonly free: number;
}

/** What a host reports about itself when it announces itself. */
export interface HostFigures {
  /** Name of the host, chosen by its operator. */
  readonly name: string;
  /** `process` or `nerdctl`. */
  readonly driver: string;
  /** Version of Berth on the host. */
  readonly version: string;
  readonly memMb: Capacity;
  readonly diskGb: Capacity;
  /**
   * GB that volumes of new agents may have by the operator's overcommit factor; left out where volumes have no size, and
   * by earlier versions.
   */
  readonly grantableDiskGb?: number;
  /** Whether the host enforces the disk size of an agent, so that an agent needs that much free disk. */
  readonly limitsDisk: boolean;
  /** Whether the host has desktop software, so that it can run computers; hosts of earlier versions leave it out. */
  readonly desktops?: boolean;
  /** Runtime classes of containers that the host offers; none without containers. */
  readonly runtimeClasses: readonly string[];
}

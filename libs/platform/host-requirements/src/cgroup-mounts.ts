/** A mounted hierarchy of control groups. */
export interface CgroupMount {
  readonly version: 1 | 2;
  readonly path: string;
  /** In version 1 its controllers, among other options of the mount. */
  readonly controllers: readonly string[];
}

/** Parses `/proc/mounts`. Ignores octal escapes: cgroups are mounted at plain paths. */
export const cgroupMounts = (mounts: string): readonly CgroupMount[] =>
  mounts.split('\n').flatMap((line): CgroupMount[] => {
    const [, path, type, options = ''] = line.split(' ');
    if (path === undefined) return [];
    if (type === 'cgroup2') return [{ version: 2, path, controllers: [] }];
    if (type === 'cgroup') return [{ version: 1, path, controllers: options.split(',') }];
    return [];
  });

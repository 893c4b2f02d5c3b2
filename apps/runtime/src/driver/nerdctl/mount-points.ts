/**
 * Every mount point of the file system that is mounted at exactly `path`, that one last, by the text of
 * `/proc/self/mountinfo`. Empty if nothing is mounted there.
 */
export const mountPointsOf = (mountInfo: string, path: string): readonly string[] => {
  const mounts = mountsOf(mountInfo);
  const device = mounts.findLast(({ point }) => point === path)?.device;
  if (device === undefined) return [];
  const others = mounts.filter((mount) => mount.device === device && mount.point !== path);
  return [...others.map(({ point }) => point), path];
};

/** Every mount point at or below `path`, one entry for each mount, by the text of a process's `mountinfo`. */
export const mountPointsBelow = (mountInfo: string, path: string): readonly string[] =>
  mountsOf(mountInfo)
    .map(({ point }) => point)
    .filter((point) => point === path || point.startsWith(`${path}/`));

const mountsOf = (mountInfo: string): readonly { readonly device: string; readonly point: string }[] =>
  mountInfo.split('\n').map((line) => {
    const [, , device = '', , point = ''] = line.split(' ');
    return { device, point: unescaped(point) };
  });

/** The kernel writes spaces, tabs, newlines and backslashes as octal numbers. */
const unescaped = (field: string): string =>
  field.replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

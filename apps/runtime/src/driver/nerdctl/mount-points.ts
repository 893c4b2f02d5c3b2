/** Whether something is mounted at exactly `path`, by the text of `/proc/self/mountinfo`. */
export const isMountPoint = (mountInfo: string, path: string): boolean =>
  mountInfo.split('\n').some((line) => unescaped(line.split(' ')[4] ?? '') === path);

/** The kernel writes spaces, tabs, newlines and backslashes as octal numbers. */
const unescaped = (field: string): string =>
  field.replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

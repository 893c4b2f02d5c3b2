import { chmod, mkdir } from 'node:fs/promises';

/**
 * Creates a control group if it does not exist. Every user may enter it, whatever the umask, because the root of a
 * container is an unprivileged user outside and its group is below this one. Only the owner may change it.
 */
export const makeGroup = async (folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o755);
};

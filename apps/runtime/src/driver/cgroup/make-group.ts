import { chmod, mkdir } from 'node:fs/promises';

/**
 * Creates a control group if it does not exist. Whatever the umask, everyone may enter it and nobody else may change it:
 * root of a container is nobody special outside, and its group is below this one.
 */
export const makeGroup = async (folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o755);
};

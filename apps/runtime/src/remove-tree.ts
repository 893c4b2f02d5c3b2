import { rmdir } from 'node:fs/promises';
import { runTool, ToolFailure } from './run-tool.js';

/**
 * Removes what is at the path, at any depth and in any number, including folders whose modes forbid it. Follows no
 * symbolic link. A no-op if nothing is there. `rm` walks by descriptors: an agent can make paths that are longer than a
 * system call takes, and folders with more names than fit into memory.
 */
export const removeTree = async (path: string): Promise<void> => {
  if (await isRemovedAtOnce(path)) return;
  const remove = (): Promise<string> => runTool('rm', ['-rf', '--', path]);
  try {
    await remove();
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    await runTool('chmod', ['-R', 'u+rwx', '--', path]);
    await remove();
  }
};

/** Most of these folders are empty or absent. */
const isRemovedAtOnce = async (path: string): Promise<boolean> => {
  try {
    await rmdir(path);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT';
  }
};

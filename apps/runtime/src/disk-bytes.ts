import { runTool, ToolFailure } from './run-tool.js';

/** Bytes that the folders hold together, without following links. */
export const diskBytes = (...folders: readonly string[]): Promise<number> =>
  totalOf(['-B1', '--apparent-size'], folders);

/** Number of files and folders in the folders, these included, without following links. */
export const fileCount = (...folders: readonly string[]): Promise<number> => totalOf(['--inodes'], folders);

/** What is missing or vanishes meanwhile counts nothing. `du` walks by descriptors, so that nothing escapes it by its depth. */
const totalOf = async (unit: readonly string[], folders: readonly string[]): Promise<number> => {
  const sizes = await runTool('du', ['-s0', ...unit, '--', ...folders]).catch((error: unknown) => {
    if (error instanceof ToolFailure) return error.output;
    throw error;
  });
  return sizes.split('\0').reduce((total, size) => total + Number.parseInt(size || '0', 10), 0);
};

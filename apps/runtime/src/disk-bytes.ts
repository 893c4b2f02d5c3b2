import { runTool, ToolFailure } from './run-tool.js';

/**
 * Bytes that the folders hold together, without following links. What is missing or vanishes meanwhile counts nothing. `du`
 * walks by descriptors, so that nothing escapes it by its depth.
 */
export const diskBytes = async (...folders: readonly string[]): Promise<number> => {
  const sizes = await runTool('du', ['-s0', '-B1', '--apparent-size', '--', ...folders]).catch(
    (error: unknown) => {
      if (error instanceof ToolFailure) return error.output;
      throw error;
    },
  );
  return sizes.split('\0').reduce((total, size) => total + Number.parseInt(size || '0', 10), 0);
};

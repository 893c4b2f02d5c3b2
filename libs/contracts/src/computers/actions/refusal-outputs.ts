import { isObject, memberOf, type FieldProblem } from './reading.js';
import { failedToolResult, SKIPPED, type ToolResult } from './tool-result.js';

/** An action of a request, at its path in the body. */
export interface SentAction {
  readonly value: unknown;
  readonly path: string;
}

/**
 * What Anthropic's model is told of a request that was refused: of each `tool_use` block what is wrong with it, or that
 * it was not tried. So its mistake does not end its loop.
 */
export const refusalOutputs = (
  actions: readonly SentAction[],
  problems: readonly FieldProblem[],
): readonly ToolResult[] =>
  actions.flatMap(({ value, path }) => {
    if (!isObject(value) || memberOf(value, 'type') !== 'tool_use') return [];
    const id = memberOf(value, 'id');
    if (typeof id !== 'string') return [];
    const toolset = memberOf(value, 'toolset_name');
    const block = { id, toolset: typeof toolset === 'string' ? toolset : null };
    return [failedToolResult(block, problemsAt(path, problems) ?? SKIPPED)];
  });

const problemsAt = (path: string, problems: readonly FieldProblem[]): string | undefined => {
  const prefix = path === '' ? '' : `${path}.`;
  const own = problems.filter((one) => one.path === path || one.path.startsWith(prefix));
  if (own.length === 0) return undefined;
  return own.map((one) => `${one.path.slice(prefix.length)} ${one.message}`).join('; ');
};

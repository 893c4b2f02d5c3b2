import type { ProjectionView } from './operations.requests.js';

/**
 * Merges the responses of all instances of all services into one list, sorted by service and name. If several instances
 * report a projection, the one that rebuilds it wins, then the one with the latest rebuild, then the one with the
 * furthest position.
 */
export const mergeProjections = (
  responses: readonly (readonly ProjectionView[])[],
): readonly ProjectionView[] => {
  const views = new Map<string, ProjectionView>();
  for (const view of responses.flat()) {
    const id = `${view.service}/${view.name}`;
    const other = views.get(id);
    if (other === undefined || supersedes(view, other)) views.set(id, view);
  }
  return [...views.entries()].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, view]) => view);
};

const supersedes = (view: ProjectionView, other: ProjectionView): boolean => {
  if ((view.rebuilding === null) !== (other.rebuilding === null)) return view.rebuilding !== null;
  const at = view.lastRebuild?.at ?? '';
  const otherAt = other.lastRebuild?.at ?? '';
  if (at !== otherAt) return at > otherAt;
  return BigInt(view.position ?? -1) > BigInt(other.position ?? -1);
};

import type { ProjectionView } from './operations.requests.js';

/**
 * What all instances of all services said, as one list by service and name: of a projection that several spoke of, the
 * an instance that rebuilds it counts, otherwise the last to have rebuilt it, otherwise the furthest.
 */
export const mergeProjections = (
  answers: readonly (readonly ProjectionView[])[],
): readonly ProjectionView[] => {
  const views = new Map<string, ProjectionView>();
  for (const view of answers.flat()) {
    const id = `${view.service}/${view.name}`;
    const other = views.get(id);
    if (other === undefined || saysMore(view, other)) views.set(id, view);
  }
  return [...views.entries()].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, view]) => view);
};

const saysMore = (view: ProjectionView, other: ProjectionView): boolean => {
  if ((view.rebuilding === null) !== (other.rebuilding === null)) return view.rebuilding !== null;
  const at = view.lastRebuild?.at ?? '';
  const otherAt = other.lastRebuild?.at ?? '';
  if (at !== otherAt) return at > otherAt;
  return BigInt(view.position ?? -1) > BigInt(other.position ?? -1);
};

import type { FastifyRequest } from 'fastify';

/** The path without the query: queries may hold secrets. */
export const pathOf = (request: Pick<FastifyRequest, 'url'>): string => request.url.split('?', 1)[0] ?? '';

const OF_END_USERS = '/api/v1/end-users/';

/** The path as logs and traces may show it: external ids of end users are personal, so those paths are their routes. */
export const loggedPathOf = (request: Pick<FastifyRequest, 'url' | 'routeOptions'>): string => {
  const path = pathOf(request);
  // Percent-encoded or doubled slashes lead to no route.
  const isPersonal = /end-?users/i.test(path) || path.includes('%');
  if (!isPersonal) return path;
  return request.routeOptions.url ?? `${OF_END_USERS}…`;
};

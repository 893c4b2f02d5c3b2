import type { FastifyRequest } from 'fastify';

/** The path without the query: queries may hold secrets. */
export const pathOf = (request: Pick<FastifyRequest, 'url'>): string => request.url.split('?', 1)[0] ?? '';

/** The paths below these hold external ids of end users, or names of variables. */
const PERSONAL = /end-?users|\/env\//i;

/** The path as logs and traces may show it: a path that may hold personal data is its route. */
export const loggedPathOf = (request: Pick<FastifyRequest, 'url' | 'routeOptions'>): string => {
  const path = pathOf(request);
  // Percent-encoded or doubled slashes lead to no route.
  const isPersonal = PERSONAL.test(path) || path.includes('%');
  return isPersonal ? (request.routeOptions.url ?? UNKNOWN) : path;
};

const UNKNOWN = '/…';

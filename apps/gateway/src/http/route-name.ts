import type { FastifyRequest } from 'fastify';

/** The route of a request for logs, metrics and spans: paths of apps belong to their owners and are not recorded. */
export const routeNameOf = ({
  appLabel,
  is404,
  routeOptions,
}: Pick<FastifyRequest, 'appLabel' | 'is404' | 'routeOptions'>): string => {
  if (appLabel !== undefined) return 'app';
  return is404 ? 'unknown' : (routeOptions.url ?? 'unknown');
};

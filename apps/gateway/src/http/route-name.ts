import type { FastifyRequest } from 'fastify';
import { VIEWER_LABEL } from '../computers/viewer/viewer-label.js';

/** The route of a request for logs, metrics and spans: paths of apps belong to their owners, those of viewers are secret, and neither is recorded. */
export const routeNameOf = ({
  appLabel,
  is404,
  routeOptions,
}: Pick<FastifyRequest, 'appLabel' | 'is404' | 'routeOptions'>): string => {
  if (appLabel !== undefined) return appLabel === VIEWER_LABEL ? 'viewer' : 'app';
  return is404 ? 'unknown' : (routeOptions.url ?? 'unknown');
};

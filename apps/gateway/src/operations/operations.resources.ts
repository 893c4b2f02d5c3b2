import { isId } from '@berth/kernel';
import { HttpRefusal } from '../http/http-refusal.js';
import type { RouteResource } from '../http/resource.js';

/** The dead letter whose id is the path parameter `param`. Only the service of its consumer knows it. */
export const deadLetterOf = (param: string): RouteResource => ({
  param,
  isId: (id) => id !== '',
  notFound: () => new HttpRefusal(404, 'dead_letter_not_found', 'There is no dead letter with this id.'),
});

/** The projection whose name is the path parameter `param`. */
export const projectionOf = (param: string): RouteResource => ({
  param,
  isId: (name) => name !== '',
  notFound: () => new HttpRefusal(404, 'projection_not_found', 'There is no projection with this name.'),
});

/** The host whose id is the path parameter `param`. */
export const hostOf = (param: string): RouteResource => ({
  param,
  isId: (id) => isId('hst', id),
  notFound: () => new HttpRefusal(404, 'host_not_found', 'There is no host with this id.'),
});

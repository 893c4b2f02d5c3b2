import { isId } from '@berth/kernel';
import { HttpRefusal } from '../http/http-refusal.js';
import type { RouteResource } from '../http/resource.js';

/** The API key whose id is the path parameter `param`. */
export const keyOf = (param: string): RouteResource => ({
  param,
  isId: (id) => isId('key', id),
  notFound: () => new HttpRefusal(404, 'key_not_found', 'No such key.'),
});

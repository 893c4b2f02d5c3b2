import { isId } from '@berth/kernel';
import { HttpRefusal } from '../http/http-refusal.js';
import type { RouteResource } from '../http/resource.js';

/** The delivery whose id is the path parameter `param`. The gateway itself refuses nothing after it. */
export const deliveryOf = (param: string): RouteResource => ({
  param,
  isId: (id) => isId('dlv', id),
  notFound: () => new HttpRefusal(404, 'delivery_not_found', 'There is no such delivery.'),
});

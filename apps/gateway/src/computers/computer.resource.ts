import { computersRequests, type ComputerView } from '@berth/contracts/computers';
import { isId } from '@berth/kernel';
import { HttpRefusal } from '../http/http-refusal.js';
import type { RouteResource } from '../http/resource.js';

const LOOKUP_WITHIN_MS = 2_000;

/** The computer whose id is the path parameter `computer_id`. */
export const computer: RouteResource<ComputerView> = {
  param: 'computer_id',
  isId: (id) => isId('cmp', id),
  notFound: () => new HttpRefusal(404, 'computer_not_found', 'There is no such computer.'),
  lookUp: (requester, { accountId }, { computer_id: computerId = '' }) =>
    requester.request(computersRequests.get, { accountId, computerId }, { deadlineMs: LOOKUP_WITHIN_MS }),
};

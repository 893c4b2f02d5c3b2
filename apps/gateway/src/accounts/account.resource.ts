import { accountsRequests } from '@berth/contracts/accounts';
import { isId } from '@berth/kernel';
import { HttpRefusal } from '../http/http-refusal.js';
import type { RouteResource } from '../http/resource.js';

/** The account whose id is the path parameter `param`, for operators. */
export const accountOf = (param: string): RouteResource => ({
  param,
  isId: (id) => isId('acc', id),
  notFound: () => new HttpRefusal(404, 'account_not_found', 'No such account.'),
  lookUp: (requester, _principal, params) =>
    requester.request(accountsRequests.getAccount, { id: params[param] ?? '' }),
});

import { endUsersRequests } from '@berth/contracts/end-users';
import { isExternalUserId } from '@berth/contracts/schema';
import { HttpRefusal } from '../http/http-refusal.js';
import type { RouteResource } from '../http/resource.js';

const LOOKUP_WITHIN_MS = 2_000;

/** The end user whose external id is the path parameter `external_id`. */
export const endUser: RouteResource = {
  param: 'external_id',
  isId: isExternalUserId,
  notFound: () => new HttpRefusal(404, 'end_user_not_found', 'There is no such end user.'),
  lookUp: (requester, { accountId }, { external_id: externalId = '' }) =>
    requester.request(endUsersRequests.get, { accountId, externalId }, { deadlineMs: LOOKUP_WITHIN_MS }),
};

/** The external id of an end user who may be created. */
export const endUserToBe: RouteResource = {
  param: 'external_id',
  isId: isExternalUserId,
  notFound: () => invalidExternalId(),
};

/** 400 if no end user can have this external id. */
export const externalIdRefusal = (externalId: string): HttpRefusal | undefined =>
  isExternalUserId(externalId) ? undefined : invalidExternalId();

const invalidExternalId = (): HttpRefusal =>
  new HttpRefusal(
    400,
    'invalid_external_id',
    'Use an external id of 1 to 128 letters, digits and _ @ . : + -, but not . or ..',
  );

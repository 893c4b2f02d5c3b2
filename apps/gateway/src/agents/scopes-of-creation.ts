import type { Scope } from '@berth/contracts/accounts';
import { isPlainObject } from '../validation/schema-keywords.js';

/** Only callers that may manage end users create agents for them. */
export const scopesOfCreation = (body: unknown): readonly Scope[] =>
  isPlainObject(body) && body['externalUserId'] !== undefined && body['externalUserId'] !== null
    ? ['manage']
    : [];

import { setTimeout as delay } from 'node:timers/promises';
import type { Requester } from '@berth/messaging';
import type { ApiRequest } from '../http/fastify-types.js';
import { authenticate } from './authenticate.hook.js';

/** Every 2.5 s, so that a revoke shows within 5 s even when the look-up needs all of its time (contract §2). */
const RECHECK_EVERY_MS = 2_500;
const LOOK_UP_WITHIN_MS = 2_000;

/**
 * Watches the credential of a long answer. Answers why it is no longer good, or undefined when it is over first. What
 * cannot be looked up counts as revoked: it may be.
 */
export const untilRefused = async (
  requester: Requester,
  { headers }: Pick<ApiRequest, 'headers'>,
  over: AbortSignal,
): Promise<unknown> => {
  while (!over.aborted) {
    await delay(RECHECK_EVERY_MS, undefined, { signal: over }).catch(() => undefined);
    if (over.aborted) return undefined;
    try {
      await authenticate(requester, headers.authorization, LOOK_UP_WITHIN_MS);
    } catch (error) {
      return error;
    }
  }
  return undefined;
};

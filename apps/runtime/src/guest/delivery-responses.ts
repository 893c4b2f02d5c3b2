import { GUEST_LIMITS, type DeliveryReport } from '@berth/guest-protocol';
import { fields, isText } from './response-fields.js';
import { guestUnreachable, readFailure } from './guest-responses.js';

// As in guest-responses: nothing from a guest is passed on unchecked.

/** Response of `delivery`, or the report from the journal. */
export const readDelivery = (body: unknown): DeliveryReport => {
  const { state, outcome } = fields(body);
  if (state === 'absent' || state === 'open') return { state };
  const { type, response } = fields(outcome);
  if (state !== 'ended') throw guestUnreachable();
  if (type === 'answered') {
    if (!isText(response, GUEST_LIMITS.chatResponseBytes)) throw guestUnreachable();
    return { state, outcome: { type, response: response.toWellFormed() } };
  }
  const failure = readFailure(outcome);
  if (failure === undefined) throw guestUnreachable();
  return { state, outcome: { type: 'failed', ...failure } };
};

import { GUEST_LIMITS, type DeliveryReport } from '@berth/guest-protocol';
import { fields, isText } from './answer-fields.js';
import { guestUnreachable, readFailure } from './guest-answers.js';

// As in guest-answers: nothing a guest says goes on unchecked.

/** Answer of `delivery`, or what the journal says. */
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

import { DomainError } from '@berth/kernel';

export const ticketUnknown = (): DomainError =>
  new DomainError('unauthenticated', 'ticket_unknown', 'This ticket is unknown, used or expired.');

/** The ticket is for another kind of request. */
export const wrongRequest = (): DomainError =>
  new DomainError('invalid', 'invalid_request', 'The ticket is not valid for this request.');

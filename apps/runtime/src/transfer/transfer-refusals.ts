import { DomainError } from '@berth/kernel';

export const ticketUnknown = (): DomainError =>
  new DomainError('unauthenticated', 'ticket_unknown', 'This ticket is unknown, used or too old.');

/** Another kind of request than the ticket is for. */
export const wrongRequest = (): DomainError =>
  new DomainError('invalid', 'invalid_request', 'The ticket is not for such a request.');

import { DomainError } from '@berth/kernel';

/** The error for a member of a request; `message` continues its name. */
export const invalid = (path: string, message: string): DomainError =>
  new DomainError('invalid', 'invalid_request', `${path} ${message}.`, { fields: [{ path, message }] });

import { DomainError } from '@berth/kernel';

const neverSent = new WeakSet<Error>();

/** Nobody answers. Safe to try again only when the request acts once, or `neverReached` says so. */
export const serviceUnavailable = (): DomainError =>
  new DomainError(
    'unavailable',
    'service_unavailable',
    'A part of the service is not available right now. Try again shortly.',
  );

/** As `serviceUnavailable`, where it is certain that no handler got the request. */
export const serviceUnreached = (): DomainError => unreached(serviceUnavailable());

export const deadlineExceeded = (): DomainError =>
  new DomainError('timeout', 'deadline_exceeded', 'The service did not answer in time.');

export const payloadTooLarge = (maxBytes: number): DomainError =>
  unreached(
    new DomainError('too_large', 'payload_too_large', `The request is larger than ${maxBytes} bytes.`, {
      maxBytes,
    }),
  );

/** The request came to its handler when its caller had given up, or could not be asked: it was not begun. */
export const noLongerAwaited = (): DomainError =>
  new DomainError(
    'unavailable',
    'service_unavailable',
    'The request arrived too late and was not begun. Try again shortly.',
  );

/** `error`, where it is certain that no handler began the request. */
export const unreached = (error: DomainError): DomainError => {
  neverSent.add(error);
  return error;
};

/**
 * Whether a failed request was certainly begun by no handler (nobody listened, the link was down, it was too large, it
 * arrived after its caller had given up).
 */
export const neverReached = (error: unknown): boolean => error instanceof Error && neverSent.has(error);

import { DomainError, effectOf, isDomainError, type DomainErrorOptions } from '@berth/kernel';

/** No reply. Unless `effect` is `none`, the request may have been carried out. */
export const serviceUnavailable = (options: DomainErrorOptions = {}): DomainError =>
  new DomainError(
    'unavailable',
    'service_unavailable',
    'A part of the service is not available right now. Try again shortly.',
    {},
    options,
  );

/** As `serviceUnavailable`, where it is certain that no handler began the request. */
export const serviceUnreached = (): DomainError => serviceUnavailable({ effect: 'none' });

export const deadlineExceeded = (): DomainError =>
  new DomainError('timeout', 'deadline_exceeded', 'The service did not answer in time.');

export const payloadTooLarge = (maxBytes: number): DomainError =>
  new DomainError(
    'too_large',
    'payload_too_large',
    `The request is larger than ${maxBytes} bytes.`,
    { maxBytes },
    { effect: 'none' },
  );

/** The request reached its handler after the caller had given up, or the caller could not be asked: it was not begun. */
export const noLongerAwaited = (): DomainError =>
  new DomainError(
    'unavailable',
    'service_unavailable',
    'The request arrived too late and was not begun. Try again shortly.',
    {},
    { effect: 'none' },
  );

/**
 * Whether a failed request was certainly begun by no handler (no receiver, the link was down, it was too large, it arrived
 * after its caller had given up).
 */
export const neverReached = (error: unknown): boolean =>
  isDomainError(error) &&
  effectOf(error) === 'none' &&
  (error.code === 'service_unavailable' || error.code === 'payload_too_large');

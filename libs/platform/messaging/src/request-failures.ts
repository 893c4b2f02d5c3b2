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

/** Like `serviceUnavailable`, when certainly no handler started the request. */
export const serviceUnreached = (): DomainError => serviceUnavailable({ effect: 'none' });

export const deadlineExceeded = (): DomainError =>
  new DomainError('timeout', 'deadline_exceeded', 'The service did not respond in time.');

export const payloadTooLarge = (maxBytes: number): DomainError =>
  new DomainError(
    'too_large',
    'payload_too_large',
    `The request is larger than ${maxBytes} bytes.`,
    { maxBytes },
    { effect: 'none' },
  );

/**
 * The handler did not start: the caller had given up or could not be asked.
 */
export const noLongerAwaited = (): DomainError =>
  new DomainError(
    'unavailable',
    'service_unavailable',
    'The request arrived too late and was not started. Try again shortly.',
    {},
    { effect: 'none' },
  );

/**
 * Whether certainly no handler started a failed request (no receiver, link down, request too large, or it arrived after
 * its caller had given up).
 */
export const neverReached = (error: unknown): boolean =>
  isDomainError(error) &&
  effectOf(error) === 'none' &&
  (error.code === 'service_unavailable' || error.code === 'payload_too_large');

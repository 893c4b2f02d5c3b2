import { DomainError, effectOf, isDomainError, type DomainErrorOptions } from '@berth/kernel';

/** The request got no reply. Unless `effect` is `none`, it may have been carried out. */
export const serviceUnavailable = (options: DomainErrorOptions = {}): DomainError =>
  new DomainError(
    'unavailable',
    'service_unavailable',
    'A part of the service is not available right now. Try again shortly.',
    {},
    options,
  );

/** The request got no reply, and certainly no handler started it. */
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

/** The handler did not start, because the caller had given up or did not reply when asked whether it still waits. */
export const noLongerAwaited = (): DomainError =>
  new DomainError(
    'unavailable',
    'service_unavailable',
    'The request arrived too late and was not started. Try again shortly.',
    {},
    { effect: 'none' },
  );

/**
 * The error of a request without an effect, such as a look-up: one that timed out is unavailable `service_unavailable`, as
 * for any other outage. Returns every other error unchanged.
 */
export const asLookUpFailure = (error: unknown): unknown =>
  isDomainError(error, 'timeout')
    ? new DomainError('unavailable', 'service_unavailable', error.message)
    : error;

/**
 * Whether a request failed before any handler could start it: it had no receiver, the link was down, it was too large,
 * or it arrived after its caller had given up.
 */
export const neverReached = (error: unknown): boolean =>
  isDomainError(error) &&
  effectOf(error) === 'none' &&
  (error.code === 'service_unavailable' || error.code === 'payload_too_large');

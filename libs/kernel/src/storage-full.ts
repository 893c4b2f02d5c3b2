import { DomainError, isDomainError, type DomainErrorOptions } from './domain-error.js';

const REASON = 'storage_full';
/** Space appears when somebody deletes something, not within a second. */
const RETRY_AFTER_SECONDS = 5;

/** The error of a write for which a disk of the service has no room. */
export const storageFull = (options: DomainErrorOptions): DomainError =>
  new DomainError(
    'unavailable',
    'service_unavailable',
    'A disk of the service is full, so it accepts no changes at present. Try again once its operator has made room.',
    { reason: REASON, retryAfterSeconds: RETRY_AFTER_SECONDS },
    options,
  );

export const isStorageFull = (error: unknown): boolean =>
  isDomainError(error, 'unavailable') && error.context['reason'] === REASON;

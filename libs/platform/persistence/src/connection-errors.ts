import { DomainError, isDomainError, storageFull } from '@berth/kernel';

/** SQLSTATE classes and codes that concern the connection or the server's state, not the statement. */
const SERVER_GONE = new Set(['57P01', '57P02', '57P03', '57014', '53300', '53400', '25P03', '25P04']);

/** Errors of Node's sockets and resolver that a caller can only wait out. */
const SOCKET_ERRORS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
]);

/** `pg` reports these by message only. */
const CLIENT_MESSAGES =
  /Connection terminated|Query read timeout|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end|not queryable|Driver not Connected/i;

const codeOf = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;

const causesOf = (error: unknown): readonly unknown[] => {
  if (error instanceof AggregateError) return error.errors;
  if (typeof error !== 'object' || error === null) return [];
  // TypeORM wraps the driver's error.
  return 'driverError' in error && error.driverError !== error ? [error.driverError] : [];
};

/** Whether `error` means that the server is unreachable or did not respond in time (SQLSTATE classes 08, 57P, 53). */
export const isConnectionLoss = (error: unknown): boolean => {
  const code = codeOf(error);
  if (code !== undefined && (SERVER_GONE.has(code) || code.startsWith('08') || SOCKET_ERRORS.has(code)))
    return true;
  if (error instanceof Error && code === undefined && CLIENT_MESSAGES.test(error.message)) return true;
  return causesOf(error).some(isConnectionLoss);
};

/** Whether the server refused a connection because it has no free one. */
export const isServerFull = (error: unknown): boolean =>
  codeOf(error) === '53300' || causesOf(error).some(isServerFull);

/** Whether the server had no room on its disk for what a statement writes. */
const isDiskFull = (error: unknown): boolean => codeOf(error) === '53100' || causesOf(error).some(isDiskFull);

/** The error that a caller gets while a backing service is unavailable. */
export const serviceUnavailable = (cause?: unknown): DomainError =>
  new DomainError('unavailable', 'service_unavailable', 'Try again shortly.', {}, { cause });

/**
 * Maps connection losses, and a full disk of the server, to `DomainError('unavailable', 'service_unavailable')`; returns
 * any other error unchanged.
 */
export const mapDatabaseError = (error: unknown): unknown => {
  if (isDomainError(error)) return error;
  if (isDiskFull(error)) return storageFull({ cause: error });
  return isConnectionLoss(error) ? serviceUnavailable(error) : error;
};

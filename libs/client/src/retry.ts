import type { PreparedCall } from './call.js';
import { ServiceConnectionError, type ServiceError } from './errors.js';

const LONGEST_WAIT_MS = 60_000;
const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 8_000;
const REPEATED = new Set([408, 429, 502, 503, 504]);
const SAFE_METHODS = new Set(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'POST']);
const NOT_STARTED: Readonly<Record<number, Readonly<Record<string, unknown>>>> = {
  409: { code: 'vm_not_ready', state: 'starting', execution_started: false },
  503: { code: 'guest_command_unavailable', execution_started: false },
};

/**
 * Milliseconds to wait before the next attempt; undefined if the error is final. `attempt` is the number of the failed
 * one, from 0.
 */
export const nextWait = (call: PreparedCall, error: ServiceError, attempt: number): number | undefined => {
  if (attempt >= call.maxRetries || call.body?.repeatable === false || !mayRepeat(call, error, attempt))
    return;
  const wait = retryAfterMs(error.headers) ?? backoffMs(attempt);
  return wait > LONGEST_WAIT_MS ? undefined : wait;
};

const mayRepeat = ({ method, repeat }: PreparedCall, error: ServiceError, attempt: number): boolean => {
  const { status, code } = error;
  switch (repeat) {
    case 'never':
      return false;
    case 'busy':
      return status === 429;
    case 'not_started':
      return status !== undefined && isExactly(error.detail, NOT_STARTED[status]);
    case 'safe':
      if (!SAFE_METHODS.has(method)) return false;
      if (error instanceof ServiceConnectionError || (status !== undefined && REPEATED.has(status)))
        return true;
      return attempt > 0 && status === 409 && code === 'idempotency_in_progress';
  }
};

const isExactly = (detail: unknown, wanted: Readonly<Record<string, unknown>> | undefined): boolean => {
  if (wanted === undefined || typeof detail !== 'object' || detail === null) return false;
  const names = Object.keys(wanted);
  return (
    Object.keys(detail).length === names.length &&
    names.every((name) => (detail as Record<string, unknown>)[name] === wanted[name])
  );
};

/** Milliseconds to wait after a failed attempt for which the service named none. */
export const backoffMs = (attempt: number): number =>
  Math.min(FIRST_BACKOFF_MS * 2 ** Math.min(attempt, 10), LONGEST_BACKOFF_MS) * (0.75 + Math.random() / 4);

/** `Retry-After`, which is a number of seconds or a date, in milliseconds. */
export const retryAfterMs = (headers: Headers | undefined): number | undefined => {
  const value = headers?.get('retry-after')?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1_000;
  const date = /^[A-Z][a-z]+,? /.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
};

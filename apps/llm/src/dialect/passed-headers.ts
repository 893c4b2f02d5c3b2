import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';

const TO_UPSTREAM = [
  'content-type',
  'accept',
  'idempotency-key',
  'anthropic-version',
  'anthropic-beta',
  'user-agent',
] as const;

/** The caller's headers that an upstream gets. */
export const headersForUpstream = (headers: IncomingHttpHeaders): OutgoingHttpHeaders => ({
  'content-type': 'application/json',
  // A compressed stream could not be metered.
  'accept-encoding': 'identity',
  ...pick(headers, (name) => TO_UPSTREAM.some((passed) => passed === name)),
});

const TO_CALLER = /^(?:content-type|retry-after|x-request-id|request-id|(?:x|anthropic)-ratelimit-.+)$/;

/** The upstream's headers that a caller gets. */
export const headersForCaller = (headers: IncomingHttpHeaders): OutgoingHttpHeaders =>
  pick(headers, (name) => TO_CALLER.test(name));

const pick = (headers: IncomingHttpHeaders, isPassed: (name: string) => boolean): OutgoingHttpHeaders =>
  Object.fromEntries(
    Object.entries(headers).filter(([name, value]) => value !== undefined && isPassed(name)),
  );

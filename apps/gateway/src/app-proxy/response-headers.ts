import { eachHeader, endToEnd } from '@berth/sockets';
import { SESSION_COOKIES } from './session-cookie.js';

/** Headers with which one app could act on more than its own pages; the request id is ours. */
const WITHHELD: ReadonlySet<string> = new Set(['clear-site-data', 'service-worker-allowed', 'x-request-id']);

/** The headers of a program's response, or its trailers, that reach the caller at `hostname`. */
export const callerHeaders = (rawHeaders: readonly string[], hostname: string): string[] => {
  const kept: string[] = [];
  for (const [name, value] of eachHeader(endToEnd(rawHeaders, WITHHELD))) {
    const key = name.toLowerCase();
    if (key === 'set-cookie' && !isOwnCookie(value, hostname)) continue;
    kept.push(name, value);
  }
  return kept;
};

/** Whether a cookie stays within the app's own host, and is none of ours. */
const isOwnCookie = (setCookie: string, hostname: string): boolean => {
  const [pair = '', ...attributes] = setCookie.split(';');
  // Browsers send back the value alone of a cookie without a name, so that `=berth_app=x` would look like ours.
  const name = pair.replace(/^\s*=/, '').split('=', 1)[0]?.trim() ?? '';
  if (SESSION_COOKIES.includes(name)) return false;
  return attributes.every((attribute) => {
    const [key = '', value = ''] = attribute.split('=', 2).map((part) => part.trim().toLowerCase());
    return key !== 'domain' || value === '' || value.replace(/^\./, '') === hostname;
  });
};

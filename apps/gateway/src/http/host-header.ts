import type { IncomingMessage } from 'node:http';
import { invalidRequest, type HttpRefusal } from './http-refusal.js';

/** `uri-host [":" port]` of RFC 3986 §3.2.2 and RFC 9110 §7.2, except that the host of an http URI is never empty. */
const REGISTERED_NAME = String.raw`(?:[A-Za-z0-9\-._~!$&'()*+,;=]|%[0-9A-Fa-f]{2})+`;
const IP_LITERAL = String.raw`\[(?:[0-9A-Fa-f:.]+|[vV][0-9A-Fa-f]+\.[A-Za-z0-9\-._~!$&'()*+,;=:]+)\]`;
const HOST = new RegExp(`^(?:${IP_LITERAL}|${REGISTERED_NAME})(?::[0-9]*)?$`);

/** The problem of the Host header; undefined if valid. HTTP/1.1 needs exactly one (RFC 9112 §3.2), HTTP/1.0 none. */
export const hostRefusal = ({ headersDistinct, httpVersion }: IncomingMessage): HttpRefusal | undefined => {
  const [host, ...others] = headersDistinct['host'] ?? [];
  if (host === undefined && httpVersion !== '1.1') return undefined;
  if (host === undefined || others.length > 0) {
    return invalidRequest([{ path: 'Host', message: 'Send one Host header.' }]);
  }
  if (HOST.test(host)) return undefined;
  return invalidRequest([{ path: 'Host', message: 'must be a host name or address with an optional port' }]);
};

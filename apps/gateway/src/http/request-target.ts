import type { IncomingMessage } from 'node:http';

const broken = new WeakSet<IncomingMessage>();

/**
 * Returns the target that the router matches. The router itself rejects a path with invalid percent-encoding before any
 * hook runs. With escaped percent signs the request passes all hooks, so that 401 and 403 take precedence.
 */
export const routableTarget = (request: IncomingMessage): string => {
  const url = originForm(request.url ?? '/');
  const end = url.indexOf('?');
  const path = end === -1 ? url : url.slice(0, end);
  if (isDecodable(path)) return url;
  broken.add(request);
  return path.replaceAll('%', '%25') + url.slice(path.length);
};

const ORIGIN = /^https?:\/\/[^/?]*/i;

/** Proxies receive targets in absolute form, and servers must accept them (RFC 9112 §3.2.2). */
const originForm = (target: string): string => {
  if (!ORIGIN.test(target)) return target;
  const rest = target.replace(ORIGIN, '');
  return rest.startsWith('/') ? rest : `/${rest}`;
};

/** Whether the path was sent with invalid percent-encoding. */
export const hasBrokenPath = (request: IncomingMessage): boolean => broken.has(request);

/** Whether every percent sign precedes two hex digits, and the decoded bytes are UTF-8. */
export const isDecodable = (text: string): boolean => {
  if (!text.includes('%')) return true;
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
};

import type { IncomingMessage } from 'node:http';
import { hasBody } from '@berth/sockets';
import { HttpRefusal, invalidRequest } from './http-refusal.js';

const KEY = /^[A-Za-z0-9+/]{21}[AQgw]==$/;
const VERSION = '13';
/** A token of RFC 9110 §5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/**
 * White space around a token (RFC 9110 §5.6.3). `trim` would remove more, which `ws` then rejects with its own error.
 */
const OUTER_SPACE = /^[ \t]+|[ \t]+$/g;

/** The problem of a WebSocket handshake (RFC 6455 §4.2.1), except its `Upgrade` header; undefined if valid. */
export const handshakeRefusal = (request: Pick<IncomingMessage, 'headers'>): HttpRefusal | undefined => {
  const { headers } = request;
  if (headers['sec-websocket-version'] !== VERSION) return upgradeRequired('Send Sec-WebSocket-Version: 13.');
  if (!KEY.test(headers['sec-websocket-key'] ?? '')) {
    return invalidRequest([{ path: 'Sec-WebSocket-Key', message: 'must be 16 bytes in base64' }]);
  }
  if (!isProtocolList(headers['sec-websocket-protocol'])) {
    return invalidRequest([
      { path: 'Sec-WebSocket-Protocol', message: 'must be a list of different tokens' },
    ]);
  }
  // The bytes of a body would be read as frames.
  if (hasBody(request)) {
    return invalidRequest([{ path: 'Content-Length', message: 'A handshake has no body.' }]);
  }
  return undefined;
};

/** 426 for a request without a WebSocket handshake, or with one of another version. */
export const upgradeRequired = (message: string): HttpRefusal =>
  new HttpRefusal(
    426,
    'upgrade_required',
    message,
    {},
    { upgrade: 'websocket', 'sec-websocket-version': VERSION },
  );

const isProtocolList = (header: string | undefined): boolean => {
  if (header === undefined) return true;
  const names = header.split(',').map((name) => name.replace(OUTER_SPACE, ''));
  return names.every((name) => TOKEN.test(name)) && new Set(names).size === names.length;
};

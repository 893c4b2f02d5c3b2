import type { IncomingMessage } from 'node:http';
import { isIP, type BlockList } from 'node:net';

/** IPv4 addresses as a socket for both families reports them. */
const MAPPED = /^::ffff:(?=\d+\.)/i;

/**
 * The address of the client: that of the connection, or, behind trusted proxies, the last one in `X-Forwarded-For` that
 * is not a trusted proxy itself.
 */
export const clientAddressOf = ({ socket, headers }: IncomingMessage, trusted: BlockList): string => {
  const chain = [headers['x-forwarded-for'] ?? []].flat().flatMap((header) => header.split(','));
  let address = plain(socket.remoteAddress ?? '');
  while (isTrusted(address, trusted)) {
    const before = plain(chain.pop()?.trim() ?? '');
    if (isIP(before) === 0) break;
    address = before;
  }
  return address;
};

const plain = (address: string): string => address.replace(MAPPED, '');

const isTrusted = (address: string, trusted: BlockList): boolean => {
  const family = isIP(address);
  return family !== 0 && trusted.check(address, family === 6 ? 'ipv6' : 'ipv4');
};

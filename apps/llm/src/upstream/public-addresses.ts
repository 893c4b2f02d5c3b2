import { lookup, type LookupAddress } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

const privateAddresses = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const)
  privateAddresses.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of [
  ['::', 127],
  ['64:ff9b:1::', 48],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const)
  privateAddresses.addSubnet(network, prefix, 'ipv6');

/** Whether an address is on the public Internet. Mapped IPv4 addresses count as what they map. */
export const isPublic = (address: string): boolean => {
  const family = isIP(address);
  return family !== 0 && !privateAddresses.check(address, family === 6 ? 'ipv6' : 'ipv4');
};

/** A provider's name leads to private addresses, where the operator's file does not permit them. */
export class PrivateAddress extends Error {
  override readonly name = 'PrivateAddress';
}

/** Looks a name up, and fails unless all its addresses are public. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    const [first] = addresses ?? [];
    if (error !== null) return callback(error, []);
    if (first === undefined || !addresses.every(({ address }) => isPublic(address)))
      return callback(new PrivateAddress(`${hostname} has an address that is not public`), []);
    if (options.all === true) return callback(null, addresses);
    return callback(null, first.address, first.family);
  });
};

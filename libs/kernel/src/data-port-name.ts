/**
 * The DNS name in the certificate of a host's data port. It exists nowhere else, so that a certificate is good for that
 * host only, at whatever address gateways reach it.
 */
export const dataPortName = (hostId: string): string =>
  `${hostId.toLowerCase().replaceAll('_', '-')}.hosts.berth.internal`;

import { createHash } from 'node:crypto';

/** Namespace of our name-based UUIDs; drawn once, never changed. */
const NAMESPACE = Buffer.from('6f1d3a6c2a5e4b0f9d57c8e1b4a07e93', 'hex');

/** The id of a command's event number `index`: UUIDv5 (RFC 9562 §5.5), the same for the same arguments. */
export const eventId = (commandId: string, index: number): string => {
  const hash = createHash('sha1').update(NAMESPACE).update(`${commandId}/${index}`).digest().subarray(0, 16);
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const hex = hash.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
};

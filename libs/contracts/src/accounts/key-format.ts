import { SECRET_PREFIXES } from '@berth/kernel';

/** In ASCII order, so that encoded numbers of equal length sort as text in numeric order. */
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PREFIX = `${SECRET_PREFIXES.apiKey}_`;
const SECRET_BYTES = 32;
/** 62^43 is the first power of 62 above 2^256. */
const SECRET_CHARS = 43;
/** 62^6 is the first power of 62 above 2^32. */
const CHECKSUM_CHARS = 6;

/**
 * The text of an API key: `mk_`, the 256 bits as 43 base62 characters (most significant first), and 6 base62 characters
 * of the CRC-32 (ISO-HDLC, as in zlib) of everything before it. The checksum tells a mistyped key from an unknown one
 * without a lookup; it adds no security.
 * @param secret exactly 32 random bytes; anything else throws a `RangeError`.
 */
export const formatKey = (secret: Uint8Array): string => {
  if (secret.length !== SECRET_BYTES) throw new RangeError(`A key is made of ${SECRET_BYTES} bytes.`);
  const body = PREFIX + encode(toInteger(secret), SECRET_CHARS);
  return body + checksumOf(body);
};

/** Whether `text` could have come from `formatKey`. Constant work for any input; never throws. */
export const isWellFormedKey = (text: string): boolean => {
  if (!KEY_FORM.test(text)) return false;
  const body = text.slice(0, -CHECKSUM_CHARS);
  return body <= LARGEST_BODY && checksumOf(body) === text.slice(-CHECKSUM_CHARS);
};

const KEY_FORM = new RegExp(`^${PREFIX}[0-9A-Za-z]{${SECRET_CHARS + CHECKSUM_CHARS}}$`);

const toInteger = (bytes: Uint8Array): bigint => {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return value;
};

const encode = (value: bigint, length: number): string => {
  let text = '';
  let rest = value;
  while (text.length < length) {
    text = BASE62.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
};

const LARGEST_BODY = PREFIX + encode((1n << 256n) - 1n, SECRET_CHARS);

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte;
  for (let bit = 0; bit < 8; bit++)
    remainder = remainder & 1 ? (remainder >>> 1) ^ 0xedb88320 : remainder >>> 1;
  return remainder;
});

const checksumOf = (ascii: string): string => {
  let crc = 0xffffffff;
  for (let index = 0; index < ascii.length; index++) {
    crc = (CRC_TABLE[(crc ^ ascii.charCodeAt(index)) & 0xff] ?? 0) ^ (crc >>> 8);
  }
  return encode(BigInt((crc ^ 0xffffffff) >>> 0), CHECKSUM_CHARS);
};

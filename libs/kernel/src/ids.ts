import { DomainError } from './domain-error.js';

/** Prefixes of public and internal ids. */
export type IdPrefix =
  | 'acc' // account
  | 'agt' // agent
  | 'aud' // audited act
  | 'cmd' // command
  | 'cmp' // computer
  | 'cnv' // conversation
  | 'dep' // deployment
  | 'dlv' // delivery of a message
  | 'exe' // execution
  | 'fbk' // feedback report
  | 'fch' // file change
  | 'hst' // host
  | 'key' // API key
  | 'req' // request
  | 'tok' // end-user token
  | 'stg' // staged file
  | 'eus' // end-users
  | 'vws' // session of a computer's viewer
  | 'llm'; // call of the LLM route

/** Crockford's base32 in lower case, the alphabet of a TypeID 0.3 suffix. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/**
 * Creates a TypeID (github.com/jetify-com/typeid, spec 0.3): `<prefix>_` + 26 characters of a UUIDv7 (RFC 9562 §5.7).
 * Ids sort by time of creation and contain 74 random bits from the platform's CSPRNG.
 */
export const newId = (prefix: IdPrefix, now: number = Date.now()): string =>
  `${prefix}_${encode(uuidV7(now))}`;

const ID_FORM = /^([a-z]{3})_([0-7][0-9a-hjkmnp-tv-z]{25})$/;

/** Whether `value` is a well-formed id with that prefix. APIs treat a malformed id like an unknown one. */
export const isId = (prefix: IdPrefix, value: string): boolean => ID_FORM.exec(value)?.[1] === prefix;

/**
 * Derives the id of what a command creates: the command's own suffix under another prefix. A retried command thus finds
 * what its first attempt created. The derived id sorts by the time of the command, and no other command can create it
 * under the same prefix. Throws for anything but a `cmd_` id.
 */
export const deriveId = (prefix: Exclude<IdPrefix, 'cmd'>, commandId: string): string => {
  if (isId('cmd', commandId)) return `${prefix}_${commandId.slice('cmd_'.length)}`;
  throw new DomainError(
    'invalid',
    'invalid_command_id',
    'Send a new command id: cmd_ followed by a TypeID suffix.',
  );
};

/** Random bytes for many ids, because one call of the CSPRNG costs more than the rest of creating an id. */
const pool = new Uint8Array(16 * 256);
let taken = pool.length;

const sixteenRandomBytes = (): Uint8Array => {
  if (taken === pool.length) {
    globalThis.crypto.getRandomValues(pool);
    taken = 0;
  }
  return pool.slice(taken, (taken += 16));
};

/**
 * Derives an id from a time and a random UUID, e.g. those of an event: it sorts by the time, and the same
 * event gives the same id again.
 */
export const idOf = (prefix: IdPrefix, millis: number, uuid: string): string => {
  const bytes = uuid.replaceAll('-', '').match(/../g) ?? [];
  return `${prefix}_${encode(
    withTime(
      Uint8Array.from(bytes, (byte) => Number.parseInt(byte, 16)),
      millis,
    ),
  )}`;
};

const uuidV7 = (now: number): Uint8Array => withTime(sixteenRandomBytes(), now);

/** Makes random bytes a UUIDv7. */
const withTime = (bytes: Uint8Array, now: number): Uint8Array => {
  let millis = BigInt(now);
  for (let index = 5; index >= 0; index--) {
    bytes[index] = Number(millis & 0xffn);
    millis >>= 8n;
  }
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes;
};

const encode = (bytes: Uint8Array): string => {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  let text = '';
  for (let index = 0; index < 26; index++) {
    text = ALPHABET.charAt(Number(value & 31n)) + text;
    value >>= 5n;
  }
  return text;
};

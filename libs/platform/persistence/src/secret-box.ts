import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Keys by id. `current` is the id of the key that seals new secrets; the other keys only open existing ones. */
export interface Keyring {
  readonly current: string;
  /** 32 bytes each. */
  readonly keys: ReadonlyMap<string, Uint8Array>;
}

const KEY_ID = /^[A-Za-z0-9_-]{1,32}$/;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** 32 bytes in base64 or base64url, with or without padding. */
const ENCODED_KEY = /^(?:[A-Za-z0-9+/]{43}|[A-Za-z0-9_-]{43})=?$/;

/**
 * Parses `id:base64key[,id:base64key…]`; the first key is the current one. Throws if an entry is invalid. The message
 * repeats no part of the text, because anything in it may belong to a key.
 */
export const parseKeyring = (text: string): Keyring => {
  const keys = new Map<string, Uint8Array>();
  for (const [index, entry] of text.split(',').entries()) {
    const [id = '', encoded = '', ...more] = entry.trim().split(':');
    if (!KEY_ID.test(id) || !ENCODED_KEY.test(encoded) || more.length > 0 || keys.has(id))
      throw new Error(
        `Entry ${index + 1} of the keyring must be an id:base64key pair with a distinct id and a key of 32 bytes.`,
      );
    keys.set(id, Buffer.from(encoded, 'base64'));
  }
  const [current = ''] = keys.keys();
  return { current, keys };
};

const NO_KEYS: Keyring = { current: '', keys: new Map() };

/** Like `parseKeyring`, for a variable of the environment: reports a problem instead of throwing. No text: no keys. */
export const readKeyring = (text: string, reportProblem: (what: string) => void): Keyring => {
  if (text === '') return NO_KEYS;
  try {
    return parseKeyring(text);
  } catch {
    reportProblem('must be id:base64key pairs of 32 byte keys, the current one first');
    return NO_KEYS;
  }
};

/**
 * Seals secrets with AES-256-GCM (NIST SP 800-38D, random 96-bit nonce). A sealed text is `<key id>.<base64url of
 * nonce, ciphertext, tag>` and opens only with the same associated data (`aad`: what the secret belongs to, so that it
 * cannot be moved to another row).
 */
export class SecretBox {
  constructor(private readonly keyring: Keyring) {
    for (const [id, key] of keyring.keys) {
      if (!KEY_ID.test(id) || key.length !== 32)
        throw new Error('A key in the keyring has an invalid id or is not 32 bytes long.');
    }
    if (!keyring.keys.has(keyring.current)) throw new Error('The current key is not in the keyring.');
  }

  seal(plain: string, aad: string): string {
    const id = this.keyring.current;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key(id), nonce).setAAD(associated(id, aad));
    const sealed = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${id}.${sealed.toString('base64url')}`;
  }

  /** Throws if the text was changed or was sealed with another `aad`, or if its key is not in the keyring. */
  open(sealed: string, aad: string): string {
    const dot = sealed.indexOf('.');
    const id = sealed.slice(0, Math.max(dot, 0));
    const bytes = Buffer.from(sealed.slice(dot + 1), 'base64url');
    if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new Error('Not a sealed secret.');
    const decipher = createDecipheriv('aes-256-gcm', this.#key(id), bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    })
      .setAAD(associated(id, aad))
      .setAuthTag(bytes.subarray(-TAG_BYTES));
    const body = bytes.subarray(NONCE_BYTES, -TAG_BYTES);
    return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
  }

  #key(id: string): Uint8Array {
    const key = this.keyring.keys.get(id);
    if (key === undefined) throw new Error('The key of this secret is not in the keyring.');
    return key;
  }
}

const associated = (id: string, aad: string): Buffer => Buffer.from(`${id}\0${aad}`, 'utf8');

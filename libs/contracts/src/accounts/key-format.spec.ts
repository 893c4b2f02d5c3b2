import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatKey, isWellFormedKey } from './key-format.js';

// Every code point except the surrogates. fast-check's own unit `binary` takes seconds to build.
const anyCharacter = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const secrets = fc.uint8Array({ minLength: 32, maxLength: 32 });

const decode = (text: string): bigint =>
  [...text].reduce((value, char) => value * 62n + BigInt(BASE62.indexOf(char)), 0n);

describe('the format of a key', () => {
  it('is mk_ and 49 base62 characters for any 256 bits', () => {
    fc.assert(fc.property(secrets, (secret) => /^mk_[0-9A-Za-z]{49}$/.test(formatKey(secret))));
  });

  it('carries all 256 bits', () => {
    fc.assert(
      fc.property(secrets, (secret) => {
        const hex = Buffer.from(secret).toString('hex');
        return decode(formatKey(secret).slice(3, 46)).toString(16).padStart(64, '0') === hex;
      }),
    );
  });

  it('ends in the CRC-32 that zlib computes for the rest', () => {
    fc.assert(
      fc.property(secrets, (secret) => {
        const key = formatKey(secret);
        return decode(key.slice(46)) === BigInt(crc32(key.slice(0, 46)));
      }),
    );
  });

  it('is the same in every release for the same secret', () => {
    const secret = Uint8Array.from({ length: 32 }, (_, index) => index);
    expect(formatKey(secret)).toBe('mk_003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf3YmgQx');
  });

  it('accepts exactly 32 bytes', () => {
    for (const length of [0, 16, 31, 33, 64]) {
      expect(() => formatKey(new Uint8Array(length))).toThrow(RangeError);
    }
  });
});

describe('a well-formed key', () => {
  it('is every key that formatKey returns', () => {
    fc.assert(fc.property(secrets, (secret) => isWellFormedKey(formatKey(secret))));
  });

  it('is not a key with one changed character', () => {
    fc.assert(
      fc.property(secrets, fc.nat(51), fc.constantFrom(...BASE62), (secret, index, char) => {
        const key = formatKey(secret);
        fc.pre(key[index] !== char);
        return !isWellFormedKey(key.slice(0, index) + char + key.slice(index + 1));
      }),
    );
  });

  it('is not arbitrary text', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 60 }), (text) => !isWellFormedKey(text)),
    );
    const key = formatKey(new Uint8Array(32).fill(255));
    expect(isWellFormedKey(key)).toBe(true);
    for (const odd of [
      '',
      'mk_',
      ` ${key}`,
      `${key}\n`,
      key.slice(0, -1),
      `${key}0`,
      key.replace('mk_', 'MK_'),
    ]) {
      expect(isWellFormedKey(odd)).toBe(false);
    }
  });

  it('encodes 256 bits: a larger number is refused even with a correct checksum', () => {
    const body = `mk_${'z'.repeat(43)}`;
    let rest = crc32(body);
    let checksum = '';
    for (let index = 0; index < 6; index++) {
      checksum = BASE62.charAt(rest % 62) + checksum;
      rest = Math.floor(rest / 62);
    }
    expect(isWellFormedKey(body + checksum)).toBe(false);
  });
});

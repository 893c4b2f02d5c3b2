import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parseKeyring, SecretBox } from './secret-box.js';

const key = (): string => randomBytes(32).toString('base64');

describe('a secret box', () => {
  const first = `k1:${key()}`;
  const box = new SecretBox(parseKeyring(first));

  it('opens what it sealed, and produces a different sealed text each time', () => {
    const sealed = box.seal('pässword', 'agt_1/TOKEN');
    expect(sealed).not.toContain('pässword');
    expect(sealed).not.toBe(box.seal('pässword', 'agt_1/TOKEN'));
    expect(box.open(sealed, 'agt_1/TOKEN')).toBe('pässword');
    expect(box.open(box.seal('', 'x'), 'x')).toBe('');
  });

  it('does not open a secret under another `aad`', () => {
    const sealed = box.seal('s', 'agt_1/TOKEN');
    expect(() => box.open(sealed, 'agt_2/TOKEN')).toThrow(/authenticate/);
  });

  it('does not open a secret in which any byte changed', () => {
    const sealed = box.seal('secret', 'a');
    const [id = '', body = ''] = sealed.split('.');
    const bytes = Buffer.from(body, 'base64url');
    for (let index = 0; index < bytes.length; index++) {
      const changed = Buffer.from(bytes);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(() => box.open(`${id}.${changed.toString('base64url')}`, 'a')).toThrow(/authenticate/);
    }
    expect(() => box.open(`${id}.${bytes.subarray(0, 20).toString('base64url')}`, 'a')).toThrow(/sealed/);
    expect(() => box.open('', 'a')).toThrow(/sealed/);
  });

  it('opens old secrets after a rotation, and seals new ones with the new key', () => {
    const old = box.seal('s', 'a');
    const rotated = new SecretBox(parseKeyring(`k2:${key()},${first}`));
    expect(rotated.open(old, 'a')).toBe('s');

    expect(() => box.open(rotated.seal('s', 'a'), 'a')).toThrow(/keyring/);
  });

  it('refuses an invalid entry of a keyring by its position, without repeating any part of it', () => {
    const secret = randomBytes(32).toString('base64');
    const invalid = [
      '',
      'k2',
      'k2:c2hvcnQ=',
      `a b:${key()}`,
      key(),
      randomBytes(16).toString('hex'),
      `:${key()}`,
      `${first.slice(0, 2)}:${key()}`,
      `k2:${secret}x`,
      `k2:${secret}:${secret}`,
      `k2:${secret}:`,
      `k2:${secret.slice(0, 20)} ${secret.slice(20)}`,
      `k2:${secret.slice(0, 20)}!${secret.slice(20)}`,
    ];
    for (const entry of invalid)
      expect(() => parseKeyring(`${first},${entry}`), entry).toThrow(
        /^Entry 2 of the keyring must be an id:base64key pair with a distinct id and a key of 32 bytes\.$/,
      );
  });

  it('reads keys in base64 and in base64url, with and without padding', () => {
    const bytes = Buffer.alloc(32, 0xfb);
    const texts = [
      bytes.toString('base64'),
      bytes.toString('base64').slice(0, -1),
      bytes.toString('base64url'),
    ];
    for (const text of texts)
      expect(Buffer.from(parseKeyring(`k:${text}`).keys.get('k') ?? [])).toEqual(bytes);
  });

  it('refuses a key of another length without repeating its id', () => {
    const short = { current: 'hunter2', keys: new Map([['hunter2', new Uint8Array(31)]]) };
    expect(() => new SecretBox(short)).toThrow(
      /^A key in the keyring has an invalid id or is not 32 bytes long\.$/,
    );
  });
});

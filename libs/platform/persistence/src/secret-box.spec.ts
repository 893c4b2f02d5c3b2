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

  it('opens old secrets after a rotation and reports them as stale', () => {
    const old = box.seal('s', 'a');
    const rotated = new SecretBox(parseKeyring(`k2:${key()},${first}`));
    expect(rotated.open(old, 'a')).toBe('s');
    expect(rotated.isStale(old)).toBe(true);
    expect(rotated.isStale(rotated.seal('s', 'a'))).toBe(false);
    expect(() => box.open(rotated.seal('s', 'a'), 'a')).toThrow(/keyring/);
  });

  it('refuses an invalid keyring without repeating keys', () => {
    expect(() => parseKeyring('k1:c2hvcnQ=')).toThrow(/k1/);
    expect(() => parseKeyring('')).toThrow(/pairs/);
    expect(() => parseKeyring(`a b:${key()}`)).toThrow(/pairs/);
    expect(() => parseKeyring(`${first},${first}`)).toThrow(/pairs/);
    const secret = key();
    expect(() => parseKeyring(`k1:${secret}x,k1:${secret}`)).toThrow(expect.not.stringContaining(secret));
  });
});

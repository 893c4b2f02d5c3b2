import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readOrCreateSecretKey } from './secret-key.js';

describe('the key that seals secrets', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'berth-key-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is generated once and stays the same, readable by its owner only', () => {
    const key = readOrCreateSecretKey(folder);
    expect(key).toMatch(/^k1:[A-Za-z0-9+/]{43}=$/);
    expect(readOrCreateSecretKey(folder)).toBe(key);
    expect(statSync(join(folder, 'secret-key')).mode & 0o777).toBe(0o600);
  });

  it('leaves no other file, and differs between folders', () => {
    const key = readOrCreateSecretKey(folder);
    expect(readdirSync(folder)).toEqual(['secret-key']);
    rmSync(join(folder, 'secret-key'));
    expect(readOrCreateSecretKey(folder)).not.toBe(key);
  });
});

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryDataDir } from '../embedded-bench.fixture.js';
import { DataFolderUnusableError } from '@berth/host-requirements';
import { readOrGenerateSecrets } from './secrets.js';

describe('the passwords of a data folder', () => {
  const folder = temporaryDataDir();
  const file = join(folder.dataDir, 'secrets.json');

  beforeEach(() => mkdirSync(folder.dataDir, { recursive: true }));
  afterEach(() => folder.remove());

  it('are generated once, and one for each service that is added later', () => {
    const first = readOrGenerateSecrets(folder.dataDir, ['agents']);
    const { natsServicePasswords, ...others } = readOrGenerateSecrets(folder.dataDir, ['agents', 'exec']);
    const { agents, exec } = natsServicePasswords;
    expect({ ...others, natsServicePasswords: { agents } }).toEqual(first);
    expect(exec).toMatch(/^p[0-9a-f]{48}$/);
    expect(exec).not.toBe(agents);
  });

  it.each(['', '{"natsPass', '7'])('are not replaced if their file contains %j', (text) => {
    writeFileSync(file, text);
    expect(() => readOrGenerateSecrets(folder.dataDir, ['agents'])).toThrow(DataFolderUnusableError);
    expect(() => readOrGenerateSecrets(folder.dataDir, ['agents'])).toThrow(file);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });
});

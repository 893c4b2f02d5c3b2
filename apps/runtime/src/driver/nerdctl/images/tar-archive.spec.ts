import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { tarArchive } from './tar-archive.js';

describe('a tar archive', () => {
  it('has the files, as tar reads them', () => {
    const archive = tarArchive({ 'oci-layout': Buffer.from('{}'), 'blobs/a': Buffer.alloc(1_024, 'x') });
    const read = (...args: readonly string[]): string =>
      execFileSync('tar', [...args], { input: archive, encoding: 'utf8' });
    expect(read('--list')).toBe('oci-layout\nblobs/a\n');
    expect(read('--extract', '--to-stdout', 'blobs/a')).toBe('x'.repeat(1_024));
  });
});

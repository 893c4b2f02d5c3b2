import { describe, expect, it } from 'vitest';
import { damagedDownloads } from './damaged-downloads.js';

const DIGEST = 'sha256:dcba62ea9283b1c252e0ebe3bbd89bc0400c6cf4eddba13fdb140d7f60b6482a';

describe('the damaged downloads in a message of nerdctl', () => {
  it('are named by their keys in containerd', () => {
    const message =
      `time="2026-11-23T05:06:05Z" level=fatal msg="failed commit on ref \\"layer-${DIGEST}\\": commit failed: ` +
      `unexpected commit digest sha256:8b77, expected ${DIGEST}: failed precondition"`;
    expect(damagedDownloads(`warning\n${message}\n${message}`)).toEqual([`layer-${DIGEST}`]);
  });

  it.each([
    'failed to copy: httpReadSeeker: failed open: unexpected EOF',
    `failed commit on ref \\"layer-${DIGEST}\\": context canceled`,
    '',
  ])('are none in %j', (message) => {
    expect(damagedDownloads(message)).toEqual([]);
  });
});

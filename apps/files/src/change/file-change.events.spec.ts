import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeGoldenEvents } from '@berth/testing';
import { expect, it } from 'vitest';
import { fileChangeCodec } from './file-change.events.js';

const GOLDEN = join(import.meta.dirname, '__events__');

describeGoldenEvents(GOLDEN, fileChangeCodec, {
  'FileChangeRequested.v2': true,
  'FileChanged.v2': true,
  FileChangeRefused: true,
});

it.each([
  ['FileChangeRequested', { path: 'notes/draft.md', to: 'notes/final.md' }],
  ['FileChanged', { path: '/data/notes/final.md', from: '/data/notes/draft.md', name: 'final.md' }],
])('%s, stored before end users had keys, has its paths in plaintext', (type, data) => {
  const stored = JSON.parse(readFileSync(join(GOLDEN, `${type}.json`), 'utf8')) as never;
  const event = fileChangeCodec.fromStored(stored);
  expect(event).toMatchObject({ type: `${type}.v2`, data: { personal: { endUserId: null, data } } });
});

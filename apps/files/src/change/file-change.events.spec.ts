import { join } from 'node:path';
import { describeGoldenEvents } from '@berth/testing';
import { fileChangeCodec } from './file-change.events.js';

describeGoldenEvents(join(import.meta.dirname, '__events__'), fileChangeCodec, {
  FileChangeRequested: true,
  FileChanged: true,
  FileChangeRefused: true,
});

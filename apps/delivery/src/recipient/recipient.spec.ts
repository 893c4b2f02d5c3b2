import { join } from 'node:path';
import { describeGoldenEvents } from '@berth/testing';
import { recipientCodec } from './recipient.js';

describeGoldenEvents(join(import.meta.dirname, '__events__'), recipientCodec, {
  RecipientGone: true,
});

import { join } from 'node:path';
import { describeGoldenEvents } from '@berth/testing';
import { deliveryCodec } from './delivery.events.js';

describeGoldenEvents(join(import.meta.dirname, '__events__'), deliveryCodec, {
  MessageAccepted: true,
  MessageAnswered: true,
  MessageFailed: true,
  MessageRefused: true,
});

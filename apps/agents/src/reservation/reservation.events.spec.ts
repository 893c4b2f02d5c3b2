import { join } from 'node:path';
import { describeGoldenEvents } from '@berth/testing';
import { reservationCodec } from './reservation.js';

describeGoldenEvents(join(import.meta.dirname, '__events__'), reservationCodec('agentName'), {
  'NameReserved.v2': true,
  NameReleased: true,
});

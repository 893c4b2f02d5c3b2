import { join } from 'node:path';
import { describeGoldenEvents } from '@berth/testing';
import { hostCodec } from './host.events.js';

describeGoldenEvents(join(import.meta.dirname, '__events__'), hostCodec, {
  HostJoined: true,
  HostDrained: true,
  HostResumed: true,
  HostRemoved: true,
});

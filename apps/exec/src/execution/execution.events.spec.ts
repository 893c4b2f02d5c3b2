import { join } from 'node:path';
import { describeGoldenEvents } from '@berth/testing';
import { executionCodec } from './execution.events.js';

describeGoldenEvents(join(import.meta.dirname, '__events__'), executionCodec, {
  ExecutionSubmitted: true,
  ExecutionRerouted: true,
  ExecutionRefused: true,
  ExecutionCancelRequested: true,
  ExecutionEnded: true,
});

import { join } from 'node:path';
import { describeGoldenEvents } from '@berth/testing';
import { computerCodec } from './computer.events.js';

describeGoldenEvents(join(import.meta.dirname, '__events__'), computerCodec, {
  ComputerCreated: true,
  ComputerStarting: true,
  ComputerStarted: true,
  ComputerSleepRequested: true,
  ComputerStopping: true,
  ComputerFellAsleep: true,
  ComputerFailed: true,
  ComputerUnseen: true,
  ComputerRanUnseen: true,
  ComputerDeletionRequested: true,
  ComputerDeleted: true,
});

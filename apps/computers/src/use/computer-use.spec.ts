import { join } from 'node:path';
import { decideGiven } from '@berth/kernel';
import { describeGoldenEvents } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { computerUseCodec, computerUseDecider, type ComputerUseEvent } from './computer-use.js';

describeGoldenEvents(join(import.meta.dirname, '__events__'), computerUseCodec, {
  ActionsOpened: true,
  ActionsDone: true,
  ScreenshotsTaken: true,
  ComputerCommandRun: true,
  ComputerFileWritten: true,
  ViewerSessionsClosed: true,
});

const at = '2026-11-28T10:00:00.000Z';
const about = { computerId: 'cmp_1', at };
const opened = (batchId: string): ComputerUseEvent => ({
  type: 'ActionsOpened',
  data: { ...about, batchId, actions: 2 },
});
const done = (batchId: string): ComputerUseEvent => ({
  type: 'ActionsDone',
  data: { ...about, batchId, results: 2, images: 1 },
});
const eventsOf = (history: readonly ComputerUseEvent[], event: ComputerUseEvent) =>
  decideGiven(computerUseDecider, history, event).events;

describe('the use of a computer', () => {
  it('counts what came of a batch once, however often it is reported', () => {
    expect(eventsOf([opened('cmd_1')], done('cmd_1'))).toEqual([done('cmd_1')]);
    expect(eventsOf([opened('cmd_1'), done('cmd_1')], done('cmd_1'))).toEqual([]);
    expect(eventsOf([], done('cmd_1'))).toEqual([]);
  });

  it('counts a batch once that is opened again', () => {
    expect(eventsOf([opened('cmd_1')], opened('cmd_1'))).toEqual([]);
    expect(eventsOf([opened('cmd_1')], opened('cmd_2'))).toEqual([opened('cmd_2')]);
  });

  it('remembers as many open batches as may wait, and no more', () => {
    const history = Array.from({ length: 300 }, (_, index) => opened(`cmd_${String(index)}`));
    expect(eventsOf(history, done('cmd_0'))).toEqual([]);
    expect(eventsOf(history, done('cmd_199'))).toHaveLength(1);
  });

  it('has no closing of no session', () => {
    const closed = (sessions: number): ComputerUseEvent => ({
      type: 'ViewerSessionsClosed',
      data: { ...about, sessions },
    });
    expect(eventsOf([], closed(0))).toEqual([]);
    expect(eventsOf([], closed(2))).toEqual([closed(2)]);
  });
});

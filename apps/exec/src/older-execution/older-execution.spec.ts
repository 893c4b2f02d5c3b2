import { join } from 'node:path';
import { decideGiven } from '@berth/kernel';
import { describeGoldenEvents } from '@berth/testing';
import { expect, it } from 'vitest';
import { olderExecutionDecider } from './older-execution.js';
import { olderExecutionCodec } from './older-execution.events.js';

describeGoldenEvents(join(import.meta.dirname, '__events__'), olderExecutionCodec, {
  OlderExecutionSubmitted: true,
});

it('a command for an older guest is recorded once', () => {
  const command = {
    ...{ executionId: 'exe_1', agentId: 'agt_1', commandBytes: 4, commandSha256: 'x' },
    at: '2026-11-23T08:00:00.000Z',
  };
  const { events } = decideGiven(olderExecutionDecider, [], command);
  expect(events).toEqual([{ type: 'OlderExecutionSubmitted', ...command }]);
  expect(decideGiven(olderExecutionDecider, events, command).events).toEqual([]);
});

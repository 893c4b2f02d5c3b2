import { describe, expect, it } from 'vitest';
import { anAgent } from '../fixtures/test-services.fixture.js';
import { statsOf } from './agent-stats.js';

const asOf = '2026-11-22T10:00:00.000Z';
const usage = {
  memBytes: 5,
  cpuSeconds: 0.5,
  processes: 3,
  diskBytes: 7,
  startedAt: '2026-11-22T09:00:00.000Z',
};
const agent = anAgent({ state: 'running', resources: { memMb: 256, vcpus: 1, diskGb: 2 } });
const limits = { memLimitBytes: 268_435_456, diskLimitBytes: 2_147_483_648, asOf };

describe('what an agent uses', () => {
  it('is shown with its limits while it runs or is warm', () => {
    expect(statsOf(agent, usage, asOf)).toEqual({ state: 'running', ...usage, ...limits });
    expect(statsOf({ ...agent, state: 'sleeping', sleepDepth: 'warm' }, usage, asOf)).toMatchObject(usage);
  });

  it.each([
    ['stopped', null],
    ['failed', null],
    ['sleeping', 'cold'],
  ] as const)('is only disk while it is %s %s', (state, sleepDepth) => {
    const nothing = { memBytes: null, cpuSeconds: null, processes: null, startedAt: null };
    const resting = { ...agent, state, sleepDepth };
    expect(statsOf(resting, usage, asOf)).toEqual({ state, ...nothing, diskBytes: 7, ...limits });
  });

  it('is nothing before its host knows it', () => {
    expect(statsOf({ ...agent, state: 'deploying' }, null, asOf)).toMatchObject({
      diskBytes: 0,
      memBytes: null,
    });
  });
});

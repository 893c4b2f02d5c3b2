import { describe, expect, it } from 'vitest';
import { planBoxes, type RecordedBox } from './reconcile-boxes.plan.js';

const guest = { version: '1.1.0', capabilities: [] };
const started = (agentId: string, boxEpoch: number | null = 3): RecordedBox => ({
  agentId,
  box: { pid: 1 },
  boxEpoch,
  guest,
});
const resting = (agentId: string): RecordedBox => ({ agentId, box: null, boxEpoch: null, guest: null });

describe('the boxes of a host whose process starts again', () => {
  it('are taken over if the record of their agent names the same start', () => {
    expect(planBoxes([started('a')], [{ agentId: 'a', epoch: 3 }])).toEqual([
      { type: 'adopt', agentId: 'a' },
    ]);
  });

  it('are ended if there is no record of their agent', () => {
    expect(planBoxes([], [{ agentId: 'x', epoch: 1 }])).toEqual([
      { type: 'stop', agentId: 'x', reason: 'no_record' },
    ]);
  });

  it('are ended if the host died before it had recorded the box or the agent was ready', () => {
    expect(planBoxes([resting('a')], [{ agentId: 'a', epoch: 3 }])).toEqual([
      { type: 'stop', agentId: 'a', reason: 'never_started' },
    ]);
    expect(planBoxes([{ ...started('a'), guest: null }], [{ agentId: 'a', epoch: 3 }])).toEqual([
      { type: 'stop', agentId: 'a', reason: 'never_started' },
    ]);
  });

  it('are ended if they are of another start than the recorded one', () => {
    for (const epoch of [2, 4]) {
      expect(planBoxes([started('a')], [{ agentId: 'a', epoch }])).toEqual([
        { type: 'stop', agentId: 'a', reason: 'other_start' },
      ]);
    }
  });

  it('are ended if only processes without a guest are left of them', () => {
    expect(planBoxes([started('a')], [{ agentId: 'a', epoch: null }])).toEqual([
      { type: 'stop', agentId: 'a', reason: 'leftover' },
    ]);
  });

  it('of an earlier version of Berth, which named no epoch, are taken over', () => {
    expect(planBoxes([started('a', null)], [{ agentId: 'a', epoch: null }])).toEqual([
      { type: 'adopt', agentId: 'a' },
    ]);
  });

  it('that are gone are removed from their records', () => {
    expect(planBoxes([started('a')], [])).toEqual([{ type: 'forget', agentId: 'a' }]);
  });

  it('cause no work for agents that rest', () => {
    expect(planBoxes([resting('a'), resting('b')], [])).toEqual([]);
  });

  it('cause at most one action per agent', () => {
    const records = [started('a'), resting('b'), started('c'), resting('d')];
    const listed = ['a', 'b', 'x', 'y'].map((agentId) => ({ agentId, epoch: 3 }));
    const actions = planBoxes(records, listed);
    expect(actions.map(({ agentId }) => agentId).toSorted()).toEqual(['a', 'b', 'c', 'x', 'y']);
  });
});

import { COMPUTER_STATUSES } from '@berth/contracts/computers';
import { describe, expect, it } from 'vitest';
import type { ComputerRow } from './computer-row.js';
import { statesOf, viewOf } from './computer-view.js';

const row: ComputerRow = {
  ...{ id: 'cmp_1', account_id: 'acc_1', end_user_id: null, name: null, external_user_id: null },
  display: { width: 1_280, height: 800 },
  resources: { memMb: 2_048, vcpus: 2, diskGb: 10 },
  ...{
    idle_ttl_seconds: 900,
    state: 'running',
    state_reason: null,
    sleep_depth: null,
    epoch: 1,
    host: 'host1',
  },
  ...{ deadline_at: null, state_changed_at: '2026-11-28T10:00:05.000Z' },
  ...{ woken_at: '2026-11-28T10:00:00.000Z', created_at: '2026-11-28T09:00:00.000Z' },
};

describe('the view of a computer', () => {
  it('shows its last use, or its last start if it was not used since', () => {
    expect(viewOf(row, null)).toMatchObject({
      lastActiveAt: row.woken_at,
      sleepAt: '2026-11-28T10:15:05.000Z',
    });
    const lastActiveAt = '2026-11-28T10:05:00.000Z';
    expect(viewOf(row, { lastActiveAt, sleepAt: lastActiveAt })).toMatchObject({
      lastActiveAt,
      sleepAt: '2026-11-28T10:20:00.000Z',
    });
    expect(viewOf(row, { lastActiveAt: '2026-11-28T09:30:00.000Z', sleepAt: null })).toMatchObject({
      lastActiveAt: row.woken_at,
    });
  });

  it.each<[string, Partial<ComputerRow>, string | null]>([
    ['is in use', {}, null],
    ['never sleeps', { idle_ttl_seconds: 0 }, '2026-11-28T10:20:00.000Z'],
    ['sleeps', { state: 'sleeping' }, '2026-11-28T10:20:00.000Z'],
  ])('has no time at which it will sleep while it %s', (_, members, sleepAt) => {
    const activity = { lastActiveAt: '2026-11-28T10:05:00.000Z', sleepAt };
    expect(viewOf({ ...row, ...members }, activity).sleepAt).toBeNull();
  });

  it('says that a computer runs until it has stopped', () => {
    expect(viewOf({ ...row, state: 'stopping' }, null).status).toBe('running');
    expect(statesOf('running')).toEqual(['running', 'stopping']);
    expect(COMPUTER_STATUSES.map((status) => statesOf(status).length)).toEqual([1, 2, 1, 1, 1]);
  });
});

import { describe, expect, it } from 'vitest';
import type { AgentRow } from './agent-row.js';
import { viewOf } from './agent-view.js';

const at = (minute: number): string => `2026-11-21T10:${String(minute).padStart(2, '0')}:00.000Z`;
const row: AgentRow = {
  id: 'agt_1',
  account_id: 'acc_1',
  end_user_id: null,
  name: 'ada',
  template_id: 'echo',
  external_id: null,
  external_user_id: null,
  instructions: null,
  labels: {},
  state: 'running',
  state_reason: null,
  state_changed_at: at(5),
  last_error: null,
  idle_ttl_seconds: 900,
  sleep_depth: null,
  source: { kind: 'template' },
  resources: { memMb: 256, vcpus: 1, diskGb: 1 },
  volume_gb: 1,
  guest: { version: '1', capabilities: [] },
  epoch: 1,
  host: 'hst_1',
  deadline_at: null,
  woken_at: at(4),
  created_at: at(0),
  updated_at: at(5),
};
const used = { lastActiveAt: at(7), lastActivityKind: 'exec', sleepAt: at(22) };

describe('the view of an agent', () => {
  it('shows the last start as the last use until the agent is used', () => {
    const shown = { lastActiveAt: at(4), lastActivityKind: 'start', sleepAt: at(20) };
    expect(viewOf(row, null, null)).toMatchObject(shown);
    expect(viewOf(row, { ...used, lastActiveAt: at(3) }, null)).toMatchObject(shown);
  });

  it('shows when the agent was last used, and when it falls asleep', () => {
    expect(viewOf(row, used, null)).toMatchObject(used);
  });

  it('shows the sizes and the idle time of the policy in force, and when it falls asleep by that', () => {
    const policy = { mem_mb: 1_024, disk_gb: 4, idle_sleep_seconds: 60 };
    expect(viewOf(row, null, policy)).toMatchObject({
      resources: { memMb: 1_024, vcpus: 1, diskGb: 4 },
      idleTtlSeconds: 60,
      sleepAt: at(6),
    });
    expect(viewOf(row, null, { idle_sleep_seconds: 0 }).sleepAt).toBeNull();
    // The host has not heard of the policy yet.
    expect(viewOf(row, used, policy).sleepAt).toBe(at(8));
    expect(viewOf(row, { ...used, sleepAt: null }, policy).sleepAt).toBeNull();
  });

  it('shows no time to fall asleep unless the agent runs and may sleep', () => {
    expect(viewOf({ ...row, state: 'stopped' }, used, null).sleepAt).toBeNull();
    expect(viewOf({ ...row, idle_ttl_seconds: 0 }, used, null).sleepAt).toBeNull();
  });
});

import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../agent/agent.js';
import { evolveRow, type AgentRow } from './agent-row.js';

const agentId = 'agt_1';
const at = (minute: number): string => `2026-11-21T10:${String(minute).padStart(2, '0')}:00.000Z`;
const created: AgentEvent = {
  type: 'AgentCreated.v3',
  data: {
    agentId,
    accountId: 'acc_1',
    templateId: 'echo',
    idleTtlSeconds: 900,
    resources: { memMb: 256, vcpus: 1, diskGb: 1 },
    personal: {
      endUserId: null,
      data: {
        name: 'ada',
        externalId: 'x',
        externalUserId: null,
        instructions: null,
        labels: { a: 'b' },
      },
    },
    source: { kind: 'template', version: 1, name: 'echo' },
    at: at(0),
  },
};
const starting: AgentEvent & { readonly type: 'AgentStarting.v2' } = {
  type: 'AgentStarting.v2',
  data: {
    agentId,
    epoch: 1,
    host: 'hst_1',
    cause: 'deploy',
    thaw: false,
    version: 1,
    deadline: at(15),
    at: at(1),
  },
};
const rowAfter = (...events: AgentEvent[]): AgentRow | null =>
  events.reduce<AgentRow | null>((row, event) => evolveRow(row, event), null);

describe('a row of the agent list', () => {
  it('shows a created agent as deploying, with its deadline', () => {
    expect(rowAfter(created, starting)).toMatchObject({
      state: 'deploying',
      deadline_at: at(15),
      host: 'hst_1',
      epoch: 1,
      woken_at: at(1),
    });
  });

  it('has a deadline only in transient states', () => {
    const running = rowAfter(created, starting, {
      type: 'AgentStarted',
      data: { agentId, epoch: 1, guest: { version: '1', capabilities: [] }, at: at(2) },
    });
    expect(running).toMatchObject({
      state: 'running',
      deadline_at: null,
      guest: { version: '1' },
      state_changed_at: at(2),
    });
  });

  it('keeps the last error after the agent recovered', () => {
    const failed: AgentEvent = {
      type: 'AgentFailed',
      data: { agentId, epoch: 1, code: 'boom', message: 'It broke.', at: at(3) },
    };
    expect(rowAfter(created, starting, failed)).toMatchObject({ state: 'failed', state_reason: 'boom' });
    const again = rowAfter(created, starting, failed, {
      ...starting,
      data: { ...starting.data, cause: 'start' },
    });
    expect(again).toMatchObject({
      state: 'starting',
      last_error: { code: 'boom', message: 'It broke.', at: at(3) },
    });
  });

  it('has the sleep depth while the agent sleeps', () => {
    const asleep: AgentEvent = {
      type: 'AgentFellAsleep',
      data: { agentId, epoch: 1, depth: 'warm', reason: 'idle', at: at(4) },
    };
    expect(rowAfter(created, starting, asleep)).toMatchObject({ state: 'sleeping', sleep_depth: 'warm' });
    expect(rowAfter(created, starting, asleep, starting)).toMatchObject({ sleep_depth: null });
  });

  it('is removed once the removal of the agent is complete', () => {
    const requested: AgentEvent = { type: 'AgentDeletionRequested', data: { agentId, at: at(5) } };
    expect(rowAfter(created, starting, requested)).toMatchObject({ state: 'deleting' });
    expect(
      rowAfter(created, starting, requested, { type: 'AgentDeleted', data: { agentId, at: at(6) } }),
    ).toBeNull();
  });
});

import type { EventData, RecordedEvent } from '@berth/event-store';
import { describe, expect, it } from 'vitest';
import { COMPUTERS } from './computers.kind.js';
import { UsageLedger } from './usage-ledger.js';

const BEGAN = Date.parse('2026-11-10T08:00:00.000Z');

let position = 0n;
const recorded = (type: string, second: number, data: EventData = {}): RecordedEvent => ({
  ...{ id: String(++position), stream: 'computer-cmp_1', type, revision: 0n, position },
  data: { computerId: 'cmp_1', at: new Date(BEGAN + second * 1_000).toISOString(), ...data },
  createdAt: new Date(BEGAN),
  metadata: {
    ...{ correlationId: 'req_1', causationId: 'cmd_1', accountId: 'acc_1' },
    actor: { kind: 'system', id: 'test' },
  },
});

const created = recorded('ComputerCreated', 0, {
  resources: { vcpus: 1, memMb: 512, diskGb: 1 },
  personal: { endUserId: null, data: { name: null, externalUserId: null } },
});
const started = (second: number): readonly RecordedEvent[] => [
  recorded('ComputerStarting', second, { cause: second === 0 ? 'create' : 'wake' }),
  recorded('ComputerStarted', second),
];

/** The sums of all days; `batch` events at a time. */
const sumsOf = (events: readonly RecordedEvent[], batch = 1): Readonly<Record<string, number>> => {
  const state = {
    ...{ meters: new Map(), terms: new Map(), plans: new Map(), latestMs: 0 },
    ...{ forgotten: new Set<string>(), failedChats: new Set<string>() },
  };
  const sums: Record<string, number> = {};
  for (let first = 0; first < events.length; first += batch) {
    const ledger = new UsageLedger(COMPUTERS, state);
    for (const event of events.slice(first, first + batch)) ledger.apply(event);
    for (const { use } of ledger.days)
      for (const [sum, amount] of Object.entries(use)) sums[sum] = (sums[sum] ?? 0) + Number(amount);
  }
  return sums;
};

const secondsOf = (...events: readonly RecordedEvent[]): number => (sumsOf(events)['active_ms'] ?? 0) / 1_000;

describe('the meter of a computer', () => {
  const life = [
    ...[created, ...started(0), recorded('ActionsDone', 1, { results: 5, images: 2 })],
    ...[recorded('ScreenshotsTaken', 2, { count: 3 }), recorded('ComputerCommandRun', 3)],
    ...[recorded('ComputerFellAsleep', 10), ...started(20), recorded('ComputerStopping', 30)],
    ...[recorded('ComputerFellAsleep', 31), recorded('ComputerDeletionRequested', 40)],
  ];

  it('counts results, images, executions, wakes, activity and disk, however the events are batched', () => {
    const sums = { active_ms: 20_000, wakes: 1, actions: 5, screenshots: 5, executions: 1, disk: 40_000 };
    for (const batch of [1, 3, 100]) expect(sumsOf(life, batch)).toMatchObject(sums);
  });

  it('counts its life once if every event of that is in the log twice', () => {
    const twice = life.flatMap((event) => (event.stream === 'computer-cmp_1' ? [event, event] : [event]));
    const { active_ms, disk, vcpu, mem } = sumsOf(twice);
    expect({ active_ms, disk, vcpu, mem }).toEqual({
      active_ms: 20_000,
      disk: 40_000,
      vcpu: 20_000_000_000,
      mem: 20_000 * 512,
    });
  });

  it('counts a wake from sleep, and none of a creation, a failure or a second try', () => {
    const wakesOf = (...events: readonly RecordedEvent[]) => sumsOf([created, ...events])['wakes'];
    expect(wakesOf(...started(0))).toBe(0);
    expect(wakesOf(recorded('ComputerFailed', 1), ...started(2))).toBe(0);
    expect(wakesOf(...started(0), recorded('ComputerFellAsleep', 1), ...started(2))).toBe(1);
    const tried = recorded('ComputerStarting', 2, { cause: 'wake' });
    expect(wakesOf(recorded('ComputerFellAsleep', 1), tried, ...started(3))).toBe(1);
  });

  it('ends with the last report of a lost host, and goes on without a gap if the computer ran on', () => {
    const since = { since: new Date(BEGAN + 20_000).toISOString() };
    const lost = [
      created,
      ...started(0),
      recorded('ComputerUnseen', 50, since),
      recorded('ComputerFailed', 50),
    ];
    expect(secondsOf(...lost, recorded('ComputerFellAsleep', 80))).toBe(20);
    const back = [recorded('ComputerRanUnseen', 80, since), recorded('ComputerStarted', 80)];
    expect(secondsOf(...lost, ...back, recorded('ComputerFellAsleep', 90))).toBe(90);
  });

  it('counts nothing of agents, and nothing of a computer that it does not know', () => {
    expect(sumsOf(life.slice(1))).toEqual({});
    const ofAgents = [recorded('AgentStarted', 0), recorded('ExecutionSubmitted', 1)];
    expect(ofAgents.map((event) => COMPUTERS.factOf(event))).toEqual([null, null]);
  });
});

import type { EventData, RecordedEvent } from '@berth/event-store';
import { describe, expect, it } from 'vitest';
import { changesOf } from './audit-rows.js';

const PRIVATE = 'PRIVATE';

let position = 0n;
const recorded = (type: string, data: EventData, causationId: string): RecordedEvent => ({
  ...{ id: crypto.randomUUID(), stream: 'computer-cmp_1', revision: 0n, position: (position += 1n) },
  ...{ type, data: { computerId: 'cmp_1', at: '2026-11-28T08:00:00.000Z', ...data } },
  createdAt: new Date('2026-11-28T08:00:00.000Z'),
  metadata: {
    ...{ correlationId: 'req_1', causationId, accountId: 'acc_1' },
    actor: { kind: 'key', id: 'key_1' },
  },
});

const rowsOf = (type: string, data: EventData = {}, causationId = 'cmd_1') =>
  changesOf([recorded(type, data, causationId)], new Set()).rows;

const resources = { memMb: 2_048, vcpus: 2, diskGb: 10 };

describe('an act on a computer', () => {
  it.each<readonly [string, EventData, string, EventData]>([
    [
      'ComputerCreated',
      { personal: { endUserId: null, data: { name: PRIVATE, externalUserId: PRIVATE } }, resources },
      'computer.create',
      {},
    ],
    ['ComputerDeletionRequested', {}, 'computer.delete', {}],
    ['ActionsOpened', { batchId: PRIVATE, actions: 7 }, 'computer.act', { actions: 7 }],
    [
      'ComputerCommandRun',
      { executionId: PRIVATE, commandBytes: 12, commandSha256: PRIVATE },
      'computer.exec',
      { commandBytes: 12 },
    ],
    ['ComputerFileWritten', { bytes: 5, path: PRIVATE }, 'computer.write', { bytes: 5 }],
    [
      'ViewerSessionOpened',
      { sessionId: 'vws_1', secretHash: PRIVATE, mode: PRIVATE, ttlSeconds: 900 },
      'computer.view',
      { ttlSeconds: 900 },
    ],
    ['ViewerSessionsClosed', { sessions: 2 }, 'computer.close', { sessions: 2 }],
  ])(
    'recorded by %s %j is %s, about the computer, with nothing but counts',
    (type, data, action, details) => {
      const rows = rowsOf(type, data);
      expect(rows).toMatchObject([
        {
          ...{ account_id: 'acc_1', actor_kind: 'key', actor_id: 'key_1', request_id: 'req_1' },
          ...{ action, resource_type: 'computer', resource_id: 'cmp_1', outcome: 'ok' },
        },
      ]);
      expect(rows.map((row) => row.details)).toEqual([details]);
      expect(JSON.stringify(rows)).not.toContain(PRIVATE);
    },
  );

  it.each<readonly [string, EventData, string, string | undefined]>([
    ['ComputerStarting', { cause: 'wake' }, 'cmd_1', 'computer.wake'],
    ['ComputerStarting', { cause: 'wake' }, 'cmd_1/wake:0', undefined],
    ['ComputerStarting', { cause: 'create' }, 'cmd_1', undefined],
    ['ComputerSleepRequested', {}, 'cmd_1', 'computer.sleep'],
    ['ComputerStopping', { reason: 'requested' }, 'cmd_1', 'computer.sleep'],
    ['ComputerStopping', { reason: 'requested' }, 'cmd_1/stop', undefined],
    ['ComputerStopping', { reason: 'idle' }, 'cmp_1/3/idle', undefined],
    ['ComputerStopping', { reason: 'suspended' }, 'cmp_1/3/suspended', 'computer.sleep'],
    ['ComputerFellAsleep', { reason: 'requested' }, 'cmd_1', 'computer.sleep'],
    ['ComputerFellAsleep', { reason: 'requested' }, 'cmp_1/3/stopped', undefined],
    ['ComputerFellAsleep', { reason: 'idle' }, 'cmd_1', undefined],
  ])('that %s %j by %s records is %s', (type, data, causationId, action) => {
    expect(rowsOf(type, data, causationId)[0]?.action).toBe(action);
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RecordedEvent } from '@berth/event-store';
import { describe, expect, it } from 'vitest';
import { toContractEvent } from './to-contract-event.js';

const folder = join(import.meta.dirname, '../execution/__events__');

const stored = (name: string): RecordedEvent =>
  ({
    ...(JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as object),
    metadata: {
      accountId: 'acc_1',
      correlationId: 'r',
      causationId: 'c',
      actor: { kind: 'system', id: 's' },
    },
  }) as unknown as RecordedEvent;

const named = { executionId: 'exe_01jd4p2q8hf3ar0a1s6v9wz2xh', agentId: 'agt_01jd4p2q8hf3ar0a1s6v9wz2xf' };

describe('public events of executions', () => {
  it('report only submissions and ends', () => {
    const published = readdirSync(folder).map((file) => toContractEvent(stored(file.replace('.json', ''))));
    expect(published.filter((event) => event !== null)).toHaveLength(2);
  });

  it('contain the duration and nothing about the command', () => {
    expect(toContractEvent(stored('ExecutionSubmitted'))).toEqual({
      subject: `evt.exec.submitted.v1.acc_1.${named.executionId}`,
      payload: { ...named, accountId: 'acc_1', detached: false, at: '2026-11-21T08:00:00.000Z' },
    });
    expect(toContractEvent(stored('ExecutionEnded'))).toEqual({
      subject: `evt.exec.ended.v1.acc_1.${named.executionId}`,
      payload: {
        ...named,
        accountId: 'acc_1',
        status: 'completed',
        durationMs: 1_000,
        at: '2026-11-21T08:00:01.000Z',
      },
    });
  });

  it('contain the duration 0 if the command is not known to have started', () => {
    const ended = stored('ExecutionEnded');
    const event = toContractEvent({ ...ended, data: { ...ended.data, startedAt: null } });
    expect(event?.payload).toMatchObject({ durationMs: 0 });
  });
});

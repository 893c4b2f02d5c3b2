import { join } from 'node:path';
import { decideGiven } from '@berth/kernel';
import { describeGoldenEvents } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { externalIdDecider } from './external-id.decider.js';
import { externalIdCodec } from './external-id.streams.js';

describeGoldenEvents(join(import.meta.dirname, '__events__'), externalIdCodec, {
  ExternalIdTaken: true,
  ExternalIdReleased: true,
});

const now = Date.UTC(2026, 10, 23, 8);
const takenBy = (endUserId: string) => ({ type: 'ExternalIdTaken', endUserId, takenAt: '' }) as const;
const take = (endUserId: string, evicted: string | null = null) =>
  ({ type: 'Take', endUserId, evicted, now }) as const;

describe('an external id', () => {
  it('goes to the first who takes it, and stays there', () => {
    expect(decideGiven(externalIdDecider, [], take('eus_1')).events).toMatchObject([{ endUserId: 'eus_1' }]);
    expect(decideGiven(externalIdDecider, [takenBy('eus_1')], take('eus_2')).events).toEqual([]);
  });

  it('passes on only from the end user who is evicted', () => {
    expect(decideGiven(externalIdDecider, [takenBy('eus_1')], take('eus_2', 'eus_1')).events).toMatchObject([
      { type: 'ExternalIdTaken', endUserId: 'eus_2' },
    ]);
    expect(decideGiven(externalIdDecider, [takenBy('eus_3')], take('eus_2', 'eus_1')).events).toEqual([]);
  });

  it('is released only by the end user who has it, and can be taken again', () => {
    const release = (endUserId: string) => ({ type: 'Release', endUserId, now }) as const;
    const { events } = decideGiven(externalIdDecider, [takenBy('eus_1')], release('eus_1'));
    expect(events).toMatchObject([{ type: 'ExternalIdReleased' }]);
    expect(decideGiven(externalIdDecider, [takenBy('eus_1')], release('eus_2')).events).toEqual([]);
    expect(decideGiven(externalIdDecider, [takenBy('eus_1'), ...events], take('eus_2')).events).toHaveLength(
      1,
    );
  });
});

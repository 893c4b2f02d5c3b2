import { join } from 'node:path';
import { decideGiven } from '@berth/kernel';
import { describeGoldenEvents } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { capThresholdsDecider, reachedBy, type CapThresholdReached } from './cap-thresholds.js';
import { capThresholdsCodec } from './cap-thresholds.events.js';

describeGoldenEvents(join(import.meta.dirname, '__events__'), capThresholdsCodec, {
  CapThresholdReached: true,
});

describe('the thresholds of a cap', () => {
  const use = { endUserId: 'eus_1', cap: 'compute_minutes_cap', period: '2026-11-01', at: 'now' } as const;
  const recordedBy = (percents: readonly number[]): readonly number[] => {
    let given: readonly CapThresholdReached[] = [];
    for (const percent of percents)
      given = [...given, ...decideGiven(capThresholdsDecider, given, { ...use, percent }).events];
    return given.map(({ percent }) => percent);
  };

  it('are 50, 80 and 100 percent, each reached exactly at its share', () => {
    expect(recordedBy([0, 49.999])).toEqual([]);
    expect(recordedBy([49.999, 50, 79.999, 80, 99.999, 100, 250])).toEqual([50, 80, 100]);
    expect([0, 49.999, 50, 99.999, 100, 250].map(reachedBy)).toEqual([0, 0, 50, 80, 100, 100]);
  });

  it('are all recorded when several are passed at once', () => {
    expect(recordedBy([100])).toEqual([50, 80, 100]);
    expect(recordedBy([60, 120])).toEqual([50, 80, 100]);
  });

  it('are recorded once in a period, also when the cap is raised and reached again', () => {
    expect(recordedBy([100, 20, 60, 90, 100])).toEqual([50, 80, 100]);
  });
});

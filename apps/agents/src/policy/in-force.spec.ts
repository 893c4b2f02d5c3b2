import { describe, expect, it } from 'vitest';
import { valuesInForce } from './in-force.js';

const resources = { memMb: 256, vcpus: 0.5, diskGb: 2 };
const own = { resources, idleTtlSeconds: 900, volumeGb: null };
const all = { mem_mb: 1_024, vcpus: 2, disk_gb: 8, idle_sleep_seconds: 60 };

describe('the values in force for an agent', () => {
  it('are those of the policy, and its own without one', () => {
    expect(valuesInForce(own, all)).toEqual({
      resources: { memMb: 1_024, vcpus: 2, diskGb: 8 },
      idleTtlSeconds: 60,
    });
    expect(valuesInForce(own, null)).toEqual({ resources, idleTtlSeconds: 900 });
  });

  it('are its own where the policy is silent, and 0 in a policy means always on', () => {
    expect(valuesInForce(own, { wakes_per_hour: 1 })).toEqual({ resources, idleTtlSeconds: 900 });
    expect(valuesInForce(own, { idle_sleep_seconds: 0 }).idleTtlSeconds).toBe(0);
  });

  it('have a smaller disk than the own one before the volume exists, and never shrink it afterwards', () => {
    expect(valuesInForce(own, { disk_gb: 1 }).resources.diskGb).toBe(1);
    expect(valuesInForce({ ...own, volumeGb: 8 }, { disk_gb: 1 }).resources.diskGb).toBe(8);
    expect(valuesInForce({ ...own, volumeGb: 8 }, null).resources.diskGb).toBe(8);
    expect(valuesInForce({ ...own, volumeGb: 8 }, { disk_gb: 9 }).resources.diskGb).toBe(9);
  });
});

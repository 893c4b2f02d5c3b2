import { describe, expect, it } from 'vitest';
import type { DriverCapabilities } from './driver.js';
import { networkOf } from './requirements.plan.js';

const offering = (network: DriverCapabilities['network']): DriverCapabilities => ({
  isolation: 'container',
  sources: ['template'],
  limits: [],
  users: ['unprivileged'],
  runtimeClasses: [],
  tasks: false,
  refusesDockerfiles: null,
  network,
});

describe('the network of a box', () => {
  it('is the widest that the host offers, or none if its template says so', () => {
    expect(networkOf(null, offering(['public', 'none']))).toBe('public');
    expect(networkOf('none', offering(['public', 'none']))).toBe('none');
    expect(networkOf(null, offering(['none']))).toBe('none');
  });

  it('is that of the host, whatever its template says, if all boxes share it', () => {
    expect(networkOf(null, offering('host'))).toBe('public');
    expect(networkOf('none', offering('host'))).toBe('public');
  });
});

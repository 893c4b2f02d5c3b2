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
  it('is the widest that the host offers, unless the template turns the network off', () => {
    expect(networkOf(null, offering(['public', 'none']))).toBe('public');
    expect(networkOf('none', offering(['public', 'none']))).toBe('none');
    expect(networkOf(null, offering(['none']))).toBe('none');
  });

  it('is that of the host, whatever the template, if all boxes share the host’s network', () => {
    expect(networkOf(null, offering('host'))).toBe('public');
    expect(networkOf('none', offering('host'))).toBe('public');
  });
});

import { describe, expect, it } from 'vitest';
import { containerOfShim } from './shims.js';

const line = (program: string, namespace: string, ...more: readonly string[]): readonly string[] => [
  program,
  '-namespace',
  namespace,
  '-id',
  'e229',
  '-address',
  '/run/containerd/containerd.sock',
  ...more,
  '',
];

describe('the container of a shim', () => {
  it.each(['/usr/bin/containerd-shim-runc-v2', 'containerd-shim-kata-v2'])('is known for %s', (program) => {
    expect(containerOfShim(line(program, 'berth-a'), 'berth-a')).toBe('e229');
  });

  it.each([
    ['a shim of another namespace', line('containerd-shim-runc-v2', 'berth-b')],
    ['a call that starts a shim', line('containerd-shim-runc-v2', 'berth-a', 'start')],
    ['a call that deletes a shim', line('containerd-shim-runc-v2', 'berth-a', '-bundle', '/b', 'delete')],
    ['another program', line('/usr/bin/containerd', 'berth-a')],
    ['a process without a command line', ['']],
  ])('is none for %s', (_what, words) => {
    expect(containerOfShim(words, 'berth-a')).toBeUndefined();
  });
});

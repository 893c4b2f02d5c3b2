import { describe, expect, it } from 'vitest';
import { mapWithout } from './user-namespace.js';

describe('the ids of the user namespace of an agent that is root inside', () => {
  it('are all those of its guest but the guest’s own', () => {
    expect(mapWithout(65_533, '         0     231072      65536\n')).toBe('0 0 65533\n65534 65534 2\n');
    expect(mapWithout(65_535, '0 231072 65536')).toBe('0 0 65535\n');
  });

  it('are not guessed for a guest whose own ids are unusual', () => {
    for (const own of ['', '5 231072 65536', '0 231072 1000', '0 0 10\n10 20 65536'])
      expect(() => mapWithout(65_533, own)).toThrow(/unexpected/);
  });
});

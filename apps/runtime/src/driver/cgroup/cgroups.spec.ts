import { describe, expect, it } from 'vitest';
import { lineValue, processorSeconds, toCount, usedMemory } from './cgroup-figures.js';

describe('the figures of a cgroup', () => {
  const v2Stat = 'anon 1000\ninactive_file 300\nactive_file 50\n';
  const v1Stat = 'cache 900\ninactive_file 1\ntotal_inactive_file 400\n';

  it('count memory without the file cache that the kernel can drop, in both versions', () => {
    expect(usedMemory(2, '1500\n', v2Stat)).toBe(1200);
    expect(usedMemory(1, '1500\n', v1Stat)).toBe(1100);
  });

  it('never count less than no memory, although usage and cache are read one after the other', () => {
    expect(usedMemory(2, '100\n', v2Stat)).toBe(0);
  });

  it('convert processor time to seconds in both versions', () => {
    expect(processorSeconds(2, 'usage_usec 2500000\nuser_usec 2000000\n')).toBe(2.5);
    expect(processorSeconds(1, '2500000000\n')).toBe(2.5);
  });

  it('count kills for lack of memory under the name that both versions share', () => {
    expect(lineValue('low 0\noom 3\noom_kill 2\noom_group_kill 0\n', 'oom_kill')).toBe(2);
    expect(lineValue('oom_kill_disable 0\nunder_oom 0\noom_kill 5\n', 'oom_kill')).toBe(5);
  });

  it('are unknown, not zero, if the kernel reports none', () => {
    expect(toCount('max\n')).toBeUndefined();
    expect(toCount('')).toBeUndefined();
    expect(usedMemory(2, '', v2Stat)).toBeUndefined();
    expect(processorSeconds(2, 'user_usec 1\n')).toBeUndefined();
  });
});

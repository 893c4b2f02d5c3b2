import { describe, expect, it } from 'vitest';
import {
  cgroupCheck,
  clockCheck,
  freeSpaceCheck,
  memoryCheck,
  nodeCheck,
  openFilesCheck,
} from './machine.plan.js';

const GIB = 1024 ** 3;
const memory = (total: number, available: number): string =>
  `MemTotal:       ${total / 1024} kB\nMemFree: 1 kB\nMemAvailable:   ${available / 1024} kB\n`;
const unified = { version: 2, path: '/sys/fs/cgroup', controllers: [] } as const;
const legacy = (controllers: readonly string[]) => ({ version: 1, path: '/x', controllers }) as const;

describe('the machine that berth doctor looks at', () => {
  it('fails with a Node that is too old', () => {
    expect(nodeCheck('22.15.0').result).toBe('ok');
    expect(nodeCheck('22.14.9')).toMatchObject({
      result: 'failed',
      text: expect.stringMatching(/22\.15 or newer/) as string,
    });
  });

  it('fails with less than 1 GiB of free disk or of memory, and warns below 10 GiB and 2 GiB', () => {
    expect([10, 9, 0.9].map((free) => freeSpaceCheck('disk', free * GIB).result)).toEqual([
      'ok',
      'warning',
      'failed',
    ]);
    expect(memoryCheck(memory(4 * GIB, 2 * GIB)).result).toBe('ok');
    expect(memoryCheck(memory(4 * GIB, GIB)).result).toBe('warning');
    expect(memoryCheck(memory(GIB / 2, GIB / 4)).result).toBe('failed');
  });

  it('warns when a controller is not delegated, by name, in whichever version it is missing', () => {
    expect(cgroupCheck([unified], ['cpu', 'memory', 'pids', 'io']).result).toBe('ok');
    expect(
      cgroupCheck([unified, legacy(['rw', 'memory']), legacy(['cpu', 'cpuacct'])], ['pids']).result,
    ).toBe('ok');
    expect(cgroupCheck([unified], ['cpu', 'io'])).toMatchObject({
      result: 'warning',
      text: expect.stringMatching(/version 2, with cpu; agents have no limit of memory, pids/) as string,
    });
    expect(cgroupCheck([], [])).toMatchObject({ result: 'warning' });
  });

  it('warns when agents can have fewer than 65,536 open files', () => {
    const of = (limit: number | undefined) => openFilesCheck('open files', 'containerd', limit, 'raise it');
    expect([of(65_536).result, of(undefined).result]).toEqual(['ok', 'ok']);
    expect(of(65_535)).toMatchObject({
      result: 'warning',
      text: expect.stringMatching(/containerd is 65535, lower than the 65536 .*: raise it\.$/) as string,
    });
  });

  it('warns when the clock is not synchronized or cannot be known to be', () => {
    expect([true, false, undefined].map((known) => clockCheck(known).result)).toEqual([
      'ok',
      'warning',
      'warning',
    ]);
  });
});

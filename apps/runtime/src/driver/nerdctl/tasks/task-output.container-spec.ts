import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { diskBytes } from '../../../disk-bytes.js';
import { DriverFixture } from '../../driver-contract/driver.fixture.js';
import { widestNetwork } from '../../requirements.plan.js';
import type { TaskSpec } from '../../task-spec.js';
import { nerdctlDriverUnderTest } from '../__fixtures__/nerdctl-driver.fixture.js';

const MB = 1024 * 1024;
const LIMITS = { memoryBytes: 256 * MB, cpus: 1, processes: 256, diskBytes: 64 * MB };
const WRITTEN = 16 * MB;

const commandLineOf = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
};

describe('the output of a task in a container', () => {
  let host: DriverFixture;

  beforeAll(async () => {
    host = await DriverFixture.open(nerdctlDriverUnderTest);
  });

  afterAll(() => host.destroy());

  const taskOf = (script: string): TaskSpec => {
    const taskId = newId('dep');
    const folder = host.driver.codeFolder(newId('agt'), taskId);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const network = widestNetwork(host.driver.capabilities);
    return { taskId, folder, script, env: {}, limits: LIMITS, network, runtimeClass: null };
  };

  it('arrives as a whole, is stored nowhere on the host, and passes through no process that collects lines', async () => {
    const ended = new AbortController();
    const script = `yes 'a line' | head -c ${WRITTEN / 2}; head -c ${WRITTEN / 2} /dev/zero; exec sleep 600`;
    let bytes = 0;
    const end = host.driver.runTask(taskOf(script), (chunk) => void (bytes += chunk.length), ended.signal);
    try {
      await eventually(() => expect(bytes).toBe(WRITTEN));
      expect(await diskBytes(join(host.dataDir, 'nerdctl'))).toBeLessThan(MB);
      const loggers = readdirSync('/proc').map(commandLineOf);
      expect(loggers.filter((line) => line.includes('LOGGING') && line.includes(host.dataDir))).toEqual([]);
    } finally {
      ended.abort();
      await end;
    }
    expect(await end).toEqual({ how: 'aborted' });
  });

  it('is its only stream: process 1 does not keep the error output of nerdctl', async () => {
    const fake = 'level=fatal msg="cannot access containerd socket"';
    const script = [
      `echo '${fake}' >&2`,
      'ls -l /proc/1/fd | grep -o "pipe:.*" | sort -u | wc -l',
      'exit 3',
    ].join('\n');
    let output = '';
    const collect = (chunk: Buffer): void => void (output += chunk.toString('utf8'));
    const end = await host.driver.runTask(taskOf(script), collect, AbortSignal.timeout(60_000));
    expect(end).toEqual({ how: 'exited', code: 3 });
    expect(output).toBe(`${fake}\n1\n`);
  });
});

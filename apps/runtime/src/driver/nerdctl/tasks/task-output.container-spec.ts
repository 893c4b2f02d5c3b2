import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { diskBytes } from '../../../disk-bytes.js';
import { DriverFixture } from '../../driver-contract/driver.fixture.js';
import { widestNetwork } from '../../requirements.plan.js';
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

  it('arrives as a whole, is stored nowhere on the host, and passes through no process that collects lines', async () => {
    const [taskId, ended] = [newId('dep'), new AbortController()];
    const folder = host.driver.codeFolder(newId('agt'), taskId);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const script = `yes 'a line' | head -c ${WRITTEN / 2}; head -c ${WRITTEN / 2} /dev/zero; exec sleep 600`;
    const network = widestNetwork(host.driver.capabilities);
    const spec = { taskId, folder, script, env: {}, limits: LIMITS, network, runtimeClass: null };
    let bytes = 0;
    const end = host.driver.runTask(spec, (chunk) => void (bytes += chunk.length), ended.signal);
    try {
      await eventually(() => expect(bytes).toBe(WRITTEN));
      expect(await diskBytes(join(host.dataDir, 'nerdctl'), WRITTEN)).toBeLessThan(MB);
      const loggers = readdirSync('/proc').map(commandLineOf);
      expect(loggers.filter((line) => line.includes('LOGGING') && line.includes(host.dataDir))).toEqual([]);
    } finally {
      ended.abort();
      await end;
    }
    expect(await end).toEqual({ how: 'aborted' });
  });
});

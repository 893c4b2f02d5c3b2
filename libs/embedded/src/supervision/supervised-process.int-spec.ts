import { setTimeout as delay } from 'node:timers/promises';
import { join } from 'node:path';
import { writeSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually, recordingLog, runs, temporaryDataDir } from '../embedded-bench.fixture.js';
import { SmallDisk } from '../testing/small-disk.js';
import { BoundedLog } from './bounded-log.js';
import { SupervisedProcess, type ProcessSpec } from './supervised-process.js';

describe('on a full disk', () => {
  const folder = temporaryDataDir();
  let disk: SmallDisk;

  beforeEach(() => {
    disk = SmallDisk.inMemory(folder.dataDir, { mb: 1 });
  });
  afterEach(() => {
    disk.unmount();
    folder.remove();
  });

  const spec = (more: Partial<ProcessSpec> = {}): ProcessSpec => ({
    name: 'sleeper',
    command: 'sleep',
    args: ['600'],
    cwd: '/',
    env: {},
    logFile: join(folder.dataDir, 'sleeper.log'),
    pidFile: join(folder.dataDir, 'sleeper.pid.json'),
    ending: [{ signal: 'SIGTERM', waitMs: 1_000 }],
    ready: () => Promise.resolve(),
    ...more,
  });

  it('a part is started, although its process id cannot be stored, and ended', async () => {
    disk.fill();
    const part = new SupervisedProcess(spec(), recordingLog());
    await part.start();
    const pid = part.pid ?? 0;
    expect(runs(pid)).toBe(true);
    await part.stop();
    expect(runs(pid)).toBe(false);
  });

  it('a log that is too long is emptied, although it cannot be copied', () => {
    const log = new BoundedLog(join(folder.dataDir, 'part.log'), 1_000);
    writeSync(log.fd, 'x'.repeat(10_000));
    disk.fill();
    log.trim();
    expect(log.tail()).toBe('');
    log.close();
  });

  it('a part that is stuck is killed and started again', async () => {
    let found = 0;
    const stuck = async (signal: AbortSignal): Promise<string> => {
      found += 1;
      if (found > 1) await delay(60_000, undefined, { signal });
      return 'it does not respond';
    };
    const part = new SupervisedProcess(spec({ stuck }), recordingLog());
    await part.start();
    const first = part.pid ?? 0;
    await eventually('another process runs', () => found === 2 && part.pid !== undefined);
    expect(runs(first)).toBe(false);
    await part.stop();
  });
});
